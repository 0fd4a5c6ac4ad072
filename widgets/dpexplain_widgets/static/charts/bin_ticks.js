// The values named below a numeric shape.
import { edgeDay, formatNumber, formatTick } from "../kit/format.js";
import { label, LABEL_SIZE } from "./marks.js";
import { dayTicks, niceTicks } from "./scale.js";
import { labelsThatFit, textWidth } from "../kit/text.js";

function edgeTicks(layout, font) {
  const { left, right, x, termFit, even, isDate } = layout;
  const edges = termFit.edges;
  if (isDate) {
    const days = even ? edges : dayTicks(edges[0], edges.at(-1), Math.max(2, (right - left) / 100));
    return { ticks: days, text: (day) => edgeDay(day, edges), x, font };
  }
  // Bins of integers end halfway between two of them; only integers are named.
  const halves = edges.every((edge) => Math.abs(edge % 1) === 0.5);
  const { ticks, step } = niceTicks(edges[0], edges.at(-1), Math.max(2, (right - left) / 80), halves);
  if (!even) return { ticks, text: (tick) => formatTick(tick, step), x, font };
  const named = (edge) => (halves ? Math.floor(edge) + (edge === edges.at(-1) ? 0 : 1) : edge);
  const least = halves ? 1 : fineStep(edges);
  const nameOf = (edge) => (edge !== 0 && Math.abs(edge) < least / 2 ? formatNumber(edge, 2) : formatTick(edge, least));
  return { ticks: edges, text: (edge) => nameOf(named(edge)), x, font };
}

/** The step between the values named on an axis of bins of equal width. */
export function fineStep(edges) {
  const whole = edges.every((edge) => Number.isInteger(edge));
  return whole ? 1 : 10 ** Math.floor(Math.log10((edges.at(-1) - edges[0]) / 100 || 1));
}

/** Values below the histogram. */
export function bottomLabels(layout, font) {
  const { ticks, text, x } = edgeTicks(layout, font);
  const labels = ticks.map((tick, i) => ({
    text: text(tick),
    center: x(tick),
    width: textWidth(text(tick), LABEL_SIZE, font),
    priority: i === 0 || i === ticks.length - 1 ? 0 : i,
  }));
  const baseline = layout.histogramBottom + 19;
  const kept = labelsThatFit(labels, 12).map((i) => labels[i]);
  const different = kept.filter((each, k) => each.text !== kept[k - 1]?.text); // a constant has one
  return different.map((each) => label(each.text, each.center, baseline));
}
