// The chart of a curve being edited: before, now, and a preview of the chosen operation.
import { binColumns, columnAt, crowdsTheAxis, valuePosition } from "../../charts/bins.js";
import { svg } from "../../kit/dom.js";
import { edgeDay, formatTick, shortName } from "../../kit/format.js";
import { label, LABEL_SIZE, rule } from "../../charts/marks.js";
import { dayTicks, linearScale, niceAxis, niceTicks } from "../../charts/scale.js";
import { fitText, fitTexts, labelsThatFit, textWidth } from "../../kit/text.js";
import { watermark } from "../../charts/watermark.js";

const PLACE = {
  top: 26, plot: 240, gap: 10, counts: 44, below: 44, slot: 72, narrow: 500, narrowSlot: 40, upright: 130, lying: 80,
};
const NEAR_CURVE = 9;
const LABEL_GAP = 6;

function editColumns(curve, left, right) {
  const { termFit, valueBins } = curve;
  const count = termFit.special.length;
  const slot = right < PLACE.narrow ? PLACE.narrowSlot : PLACE.slot;
  const gap = (20 * slot) / PLACE.slot;
  const end = right - count * slot;
  const even = termFit.edges ? crowdsTheAxis([termFit], end - left) : true;
  const edges = termFit.edges ?? Array.from({ length: valueBins + 1 }, (_, i) => i);
  const x = valuePosition(edges, even, left, end);
  const slots = termFit.special.map((_, i) => [end + i * slot + gap, end + (i + 1) * slot - 4]);
  return { columns: binColumns(edges, x, slots), x, edges, end, even, slot };
}

function axisOf(curve, curves) {
  const half = halfWidths(curve) ?? curve.values.map(() => 0);
  const values = curve.said.slice(0, curve.valueBins);
  const reach = Math.max(...values, 0) - Math.min(...values, 0) || 1;
  const ends = values.flatMap((value, i) => [-1, 1].map((sign) => value + sign * Math.min(half[i], reach / 2)));
  const drawn = curves.flatMap((each) => each.values.slice(0, curve.valueBins));
  return niceAxis([...ends, ...drawn], 5);
}

// Categories have no order, so no line joins them.
function steps({ columns, y }, { valueBins, termFit }, values) {
  const path = columns.slice(0, valueBins).map(([left, right], i) =>
    `${i === 0 || !termFit.edges ? "M" : "L"}${left} ${y(values[i])}H${right}`);
  const dashes = columns.slice(valueBins).map(([left, right], i) => `M${left} ${y(values[valueBins + i])}H${right}`);
  return [...path, ...dashes].join("");
}

/** Half the width of the band in each bin, the one that all views draw; null if unknown. */
function halfWidths({ termFit: { total_std: std, band_factor: factor } }) {
  return std ? std.map((each) => factor * each) : null;
}

function band(curve, layout) {
  const half = halfWidths(curve);
  if (half === null) return [];
  return layout.columns.map(([left, right], i) => {
    const [high, low] = [1, -1].map((sign) => layout.y(curve.said[i] + sign * half[i]));
    const top = Math.max(layout.top, Math.min(layout.bottom, high));
    const height = Math.max(0, Math.min(layout.bottom, low) - top);
    return svg("rect", { x: left, y: top, width: Math.max(0, right - left), height, class: "dpx-band" });
  });
}

function counts(curve, layout) {
  const most = Math.max(...curve.termFit.count, 1);
  return layout.columns.map(([left, right], i) => {
    const height = (Math.max(0, curve.termFit.count[i]) / most) * PLACE.counts;
    return svg("rect", {
      x: left, y: layout.foot - height, width: Math.max(0.5, right - left - 1), height, class: "dpx-count",
    });
  });
}

function chosenColumns(layout, chosen) {
  return chosen.filter((bin) => layout.columns[bin]).map((bin) => {
    const [left, right] = layout.columns[bin];
    const frame = { x: left, y: layout.top, width: Math.max(2, right - left), height: layout.foot - layout.top };
    return svg("rect", { ...frame, class: "dpx-column dpx-column-chosen" });
  });
}

// The keyboard cursor, separate from the selection.
function cursorColumn(layout, cursor) {
  if (cursor === null || !layout.columns[cursor]) return [];
  const [left, right] = layout.columns[cursor];
  const frame = { x: left, y: layout.top, width: Math.max(2, right - left), height: layout.foot - layout.top };
  return [svg("rect", { ...frame, class: "dpx-edit-cursor" })];
}

function outsideMarks(curve, layout) {
  const half = halfWidths(curve);
  if (half === null) return [];
  return layout.columns.flatMap(([left, right], i) => {
    if (Math.abs(curve.values[i] - curve.said[i]) <= half[i]) return [];
    const [x, y] = [(left + right) / 2, layout.y(curve.values[i])];
    return [svg("path", { d: `M${x} ${y - 5}l5 5l-5 5l-5 -5Z`, class: "dpx-edit-outside" })];
  });
}

// Names of categories stand upright where most of them would be cut away.
function uprightNames({ termFit, valueBins }, { columns, slot }, font) {
  const cut = (name, room) => textWidth(shortName(name, 200), LABEL_SIZE, font) > room;
  const narrow = termFit.special.some((name) => cut(name, slot - 8));
  const room = columns[0][1] - columns[0][0] - LABEL_GAP;
  const names = termFit.edges || room >= PLACE.lying ? [] : termFit.labels.slice(0, valueBins);
  const crowded = names.some((name) => cut(name, room));
  return { crowded, narrow: narrow || crowded };
}

function uprightLabels(names, columns, baseline, font) {
  const texts = fitTexts(names, PLACE.upright, LABEL_SIZE, font);
  const places = texts.map((_, i) => ({
    center: (columns[i][0] + columns[i][1]) / 2, width: LABEL_SIZE, priority: i,
  }));
  return labelsThatFit(places, 0).map((i) => {
    const [x, y] = [places[i].center + 4.5, baseline - 10];
    const text = label(texts[i], x, y, "end");
    text.setAttribute("transform", `rotate(-90 ${x} ${y})`);
    return text;
  });
}

/** Labels below the columns, and the height that they need. */
function editLabels(curve, layout, font) {
  const { termFit, valueBins } = curve;
  const baseline = layout.foot + 18;
  const { crowded, narrow } = uprightNames(curve, layout, font);
  const standing = [...(crowded ? termFit.labels.slice(0, valueBins) : []), ...(narrow ? termFit.special : [])];
  const widest = Math.max(0, ...standing.map((name) => textWidth(shortName(name, 200), LABEL_SIZE, font)));
  const below = standing.length === 0 ? 0 : Math.min(PLACE.upright, Math.ceil(widest)) - 4;
  const specialColumns = layout.columns.slice(valueBins);
  const middles = specialColumns.map(([left, right]) => (left + right) / 2);
  const texts = termFit.special.map((name) => fitText(name, layout.slot - 8, LABEL_SIZE, font));
  const special = narrow ? uprightLabels(termFit.special, specialColumns, baseline, font)
    : texts.map((text, i) => label(text, middles[i], baseline));
  const lies = !narrow && texts.length > 0;
  const end = lies ? middles[0] - textWidth(texts[0], LABEL_SIZE, font) / 2 - LABEL_GAP : Infinity;
  const values = valueLabels(curve, layout, font, baseline, crowded, end);
  return { elements: [...values, ...special], below: Math.max(0, below) };
}

function valueLabels({ termFit, valueBins, isDate }, layout, font, baseline, crowded, end) {
  const names = termFit.labels.slice(0, valueBins);
  if (crowded) return uprightLabels(names, layout.columns, baseline, font);
  if (!termFit.edges) {
    const [left, right] = layout.columns[0];
    return fitTexts(names, right - left - LABEL_GAP, LABEL_SIZE, font).map((name, i) =>
      label(name, (layout.columns[i][0] + layout.columns[i][1]) / 2, baseline));
  }
  const [low, high] = [layout.edges[0], layout.edges.at(-1)];
  const count = Math.max(2, (layout.end - layout.left) / (isDate ? 100 : 60));
  const { ticks, step } = isDate ? { ticks: dayTicks(low, high, count), step: 1 } : niceTicks(low, high, count);
  const marks = (layout.even ? layout.edges : ticks).map((tick, i) => {
    const text = isDate ? edgeDay(tick, layout.edges) : formatTick(tick, layout.even ? Math.min(step, 1) : step);
    return { text, center: layout.x(tick), width: textWidth(text, LABEL_SIZE, font), priority: i };
  }).filter(({ center, width }) => center + width / 2 <= end);
  return labelsThatFit(marks, 12).map((i) => label(marks[i].text, marks[i].center, baseline));
}

/** Draw. Returns the element, `binAt(x)`, `valueAt(y)`, `nearCurve(x, y)` and the step of a nudge. */
export function drawEditPlot({ curve, preview, chosen, cursor, width, font, ids, scoreWords, about, warning }) {
  const axis = axisOf(curve, [curve, preview ?? curve]);
  const left = 14 + Math.ceil(Math.max(...axis.ticks.map((tick) =>
    textWidth(formatTick(tick, axis.step), LABEL_SIZE, font))));
  const [top, bottom] = [PLACE.top, PLACE.top + PLACE.plot];
  const foot = bottom + PLACE.gap + PLACE.counts;
  const y = linearScale(axis.domain, [bottom, top]);
  const layout = { ...editColumns(curve, left, width - 6), y, top, bottom, foot, left };
  const line = (values, kind) => svg("path", {
    d: steps(layout, curve, values), class: `dpx-curve ${kind}`,
  });
  const grid = axis.ticks.flatMap((tick) => [
    rule(left, y(tick), width - 6, y(tick), tick === 0 ? "zero" : "grid"),
    label(formatTick(tick, axis.step), left - 8, y(tick) + 4.5, "end"),
  ]);
  const inPlot = svg("g", { "clip-path": `url(#${ids.clip})` });
  inPlot.append(
    ...band(curve, layout),
    line(curve.termFit.contribution, "dpx-edit-before"),
    line(curve.values, "dpx-curve-main"),
    ...(preview ? [line(preview.values, "dpx-edit-preview")] : []),
    ...outsideMarks(preview ?? curve, layout),
  );
  const labels = editLabels(curve, layout, font);
  const height = foot + PLACE.below + labels.below;
  const picture = svg("svg", { class: "dpx-svg", width, height, "aria-hidden": "true" });
  const frame = { x: left - 2, y: top - 2, width: width - left, height: bottom - top + 4 };
  picture.append(
    svg("defs", {}, svg("clipPath", { id: ids.clip }, svg("rect", frame))),
    ...chosenColumns(layout, chosen),
    ...cursorColumn(layout, cursor),
    ...grid,
    ...counts(curve, layout),
    inPlot,
    ...(warning ? [watermark(warning, { left, right: width - 6, top, bottom }, font, [])] : []),
    rule(left, foot, width - 6, foot, "axis"),
    label(fitText(`adds to ${scoreWords}`, width - 8, LABEL_SIZE, font), 0, 14, "start", "dpx-axis-title"),
    ...labels.elements,
    label(fitText(about, width - 8, LABEL_SIZE, font), width / 2, foot + 38 + labels.below, "middle", "dpx-axis-title"),
  );
  const binAt = (x) => columnAt(layout.columns, x);
  return {
    element: picture,
    binAt,
    valueAt: (at) => y.invert(at),
    nearCurve: (x, at) => Math.abs(y(curve.values[binAt(x)]) - at) <= NEAR_CURVE,
    nudge: axis.step / 10,
  };
}
