// Positions of the bins of a term along an axis. The special bins (missing, other) come last in
// every array and are drawn apart.
import { linearScale } from "./scale.js";

/**
 * Split an array over bins into the bins on the axis and the special ones.
 * @param {import("../types").TermFit} termFit
 */
export function splitSpecial(termFit, values) {
  const count = termFit.labels.length - termFit.special.length;
  return { ordinary: values.slice(0, count), special: values.slice(count) };
}

/** Whether a quarter of the bins, or of the records, would be too narrow to see on an axis of true values. */
function crowds({ edges, count }, width) {
  const span = edges.at(-1) - edges[0] || 1;
  const sizes = edges.slice(1).map((edge, i) => [edge - edges[i], Math.max(0, count[i])]);
  const narrow = sizes.filter(([each]) => (each / span) * width < 3);
  const records = (bins) => bins.reduce((sum, [, size]) => sum + size, 0);
  return narrow.length > sizes.length / 4 || records(narrow) > records(sizes) / 4;
}

/** The same for any of the fits of a term, so its axis stays the same at every epsilon. */
export function crowdsTheAxis(termFits, width) {
  return termFits.some((termFit) => crowds(termFit, width));
}

function evenPosition(edges, from, to) {
  const width = (to - from) / (edges.length - 1);
  return (value) => {
    let bin = 0;
    while (bin < edges.length - 2 && value >= edges[bin + 1]) bin += 1;
    const inside = (value - edges[bin]) / (edges[bin + 1] - edges[bin] || 1);
    return from + width * (bin + Math.max(0, Math.min(1, inside)));
  };
}

/** Map a value to the axis, drawn to scale or with equal-width bins. */
export function valuePosition(edges, even, from, to) {
  if (even) return evenPosition(edges, from, to);
  return linearScale([edges[0], edges.at(-1)], [from, to]);
}

/** Left and right end of each bin: ordinary ones on the axis, special ones in `slots`. */
export function binColumns(edges, x, slots) {
  const ordinary = edges.slice(1).map((edge, i) => [x(edges[i]), x(edge)]);
  return [...ordinary, ...slots];
}

/** Index of the column at the position, or of the nearest column. */
export function columnAt(columns, position) {
  const distance = ([left, right]) => Math.max(left - position, position - right, 0);
  let best = 0;
  columns.forEach((column, i) => {
    if (distance(column) < distance(columns[best])) best = i;
  });
  return best;
}

const NARROW_SHARE = 0.1;

/**
 * Heights of the histogram: counts, or where bins of different widths are drawn true to scale, counts
 * per `width` of the feature, which is the median width of the bins. Special bins keep their counts.
 * `narrow` marks bins so narrow that their density, mostly noise, must not stretch the axis of all.
 */
export function histogramHeights({ edges, count }, even) {
  const widths = edges.slice(1).map((edge, i) => edge - edges[i]);
  const width = [...widths].sort((a, b) => a - b)[widths.length >> 1];
  if (even || !(width > 0) || widths.every((each) => Math.abs(each - width) < 1e-9 * width)) {
    return { heights: count, width: null, narrow: count.map(() => false) };
  }
  const heights = count.map((each, i) => (i < widths.length ? (each * width) / widths[i] : each));
  return { heights, width, narrow: count.map((_, i) => widths[i] < NARROW_SHARE * width) };
}
