// The shape of a categorical term: one row per category, so every name is readable.
import {
  axisValues, effectEnds, mainTerm, noiseEnds, privacyEnds, shownLayer, termCurves, watermarkText,
} from "../../charts/curves.js";
import { html, svg } from "../../kit/dom.js";
import { formatCount, formatTick } from "../../kit/format.js";
import { effectDot, pointMark } from "../../charts/legend.js";
import { beyondMark, clipRectangle, hatchPattern, label, LABEL_SIZE, rule } from "../../charts/marks.js";
import { linearScale, niceAxis } from "../../charts/scale.js";
import { fitText, fitTexts, labelsThatFit, textWidth, wrapText } from "../../kit/text.js";
import { watermark } from "../../charts/watermark.js";
import { noiseVerdict, scoreAxisTitle } from "../../kit/words.js";
import { markedSpans } from "./ranges.js";

const SIZES_OF_ROWS = { one: 30, two: 42, stacked: 58, apart: 14, head: 50, lineStep: 16 };
const STACKED = 460; // below this width, names stand above their bars

function nameColumn(termFit, width, font) {
  const widest = Math.max(...termFit.labels.map((name) => textWidth(name.slice(0, 200), LABEL_SIZE, font)));
  return Math.ceil(Math.min(widest, Math.max(90, width * 0.32), 280)) + 14;
}

function countColumn(termFit, width, font) {
  const numbers = termFit.count.map((count) => textWidth(formatCount(count), LABEL_SIZE, font));
  const number = Math.ceil(Math.max(...numbers));
  return { number, bar: Math.max(24, Math.min(110, width * 0.14)) };
}

/**
 * Bins in the order of their rows: "contribution" and "uncertainty" sort categories, largest first.
 * Special bins stay last.
 * @param {import("../../types").TermFit} termFit
 */
export function rowOrder(termFit, order) {
  const bins = termFit.labels.map((_, i) => i);
  const sizes = { contribution: termFit.contribution, uncertainty: termFit.total_std ?? termFit.noise_std }[order];
  if (!sizes) return bins;
  const categories = bins.slice(0, bins.length - termFit.special.length);
  return [...categories.sort((a, b) => sizes[b] - sizes[a]), ...bins.slice(categories.length)];
}

function rowPlaces(termFit, names, specialCount, { stacked, order }) {
  let top = 0;
  const places = [];
  for (const i of order) {
    const lines = names[i];
    if (specialCount > 0 && i === termFit.labels.length - specialCount) top += SIZES_OF_ROWS.apart;
    const beside = lines.length > 1 ? SIZES_OF_ROWS.two : SIZES_OF_ROWS.one;
    const height = stacked ? SIZES_OF_ROWS.stacked : beside;
    top += height;
    places[i] = { top: top - height, bottom: top, middle: stacked ? top - 26 : top - height / 2 };
  }
  return places;
}

/** Positions and scales for the drawing functions. */
function categoricalLayout({ state, width, font, options }) {
  const termFit = mainTerm(state);
  const stacked = width < STACKED;
  const order = rowOrder(termFit, options.categoryOrder);
  const left = stacked ? 12 : nameColumn(termFit, width, font);
  const names = stacked
    ? fitTexts(termFit.labels, width - 16, LABEL_SIZE, font).map((name) => [name])
    : termFit.labels.map((name) => wrapText(name, left - 14, LABEL_SIZE, font));
  const column = countColumn(termFit, width, font);
  const right = width - column.number - column.bar - 40;
  const axis = niceAxis(axisValues(state, options.everyEpsilon), Math.max(2, (right - left) / 70));
  const rows = rowPlaces(termFit, names, termFit.special.length, { stacked, order });
  const most = Math.max(1, ...termFit.count);
  return {
    termFit, names, rows, left, right, width, stacked, order,
    height: Math.max(...rows.map((row) => row.bottom)) + 6,
    axis,
    x: linearScale(axis.domain, [left + 8, right]),
    countX: linearScale([0, most], [right + 22, right + 22 + column.bar]),
  };
}

function headLabels(view, layout) {
  const { left, right, width, axis, x } = layout;
  const ticks = axis.ticks.map((tick) => {
    const text = formatTick(tick, axis.step);
    const size = textWidth(text, LABEL_SIZE, view.font);
    // Without a column of names, the label of the first tick would leave the picture on the left.
    return { text, center: Math.max(size / 2, x(tick)), width: size, priority: tick === 0 ? 0 : 1 };
  });
  const kept = labelsThatFit(ticks, 10).map((i) => label(ticks[i].text, ticks[i].center, 44));
  const counted = view.state.fit.guarantee.private ? "noisy count" : "count";
  const countedRoom = textWidth(counted, LABEL_SIZE, view.font);
  const room = width - countedRoom - 40;
  const words = scoreAxisTitle(view.state.payload, (text) => textWidth(text, LABEL_SIZE, view.font) <= room);
  const title = fitText(words, room, LABEL_SIZE, view.font);
  const start = Math.min(left + 8, width - countedRoom - 32 - textWidth(title, LABEL_SIZE, view.font));
  return [
    label(title, Math.max(0, start), 17, "start", "dpx-axis-title"),
    label(counted, width - 8, 17, "end", "dpx-axis-title"),
    ...kept,
    rule(left + 8, 49.5, right, 49.5, "axis"),
  ];
}

function head(view, layout) {
  const attributes = { class: "dpx-svg dpx-rows-head", width: layout.width, height: SIZES_OF_ROWS.head };
  return svg("svg", { ...attributes, "aria-hidden": "true" }, headLabels(view, layout));
}

function gridLines({ axis, x, height }) {
  return axis.ticks.map((tick) => rule(x(tick), 0, x(tick), height, tick === 0 ? "zero" : "grid"));
}

function nameLabel(layout, i) {
  const { names, rows, left, termFit } = layout;
  const lines = names[i];
  const title = svg("title", {}, termFit.labels[i].slice(0, 500));
  if (layout.stacked) return svg("g", {}, title, label(lines[0], 4, rows[i].top + 14, "start"));
  const first = rows[i].middle + 4.5 - ((lines.length - 1) * SIZES_OF_ROWS.lineStep) / 2;
  const texts = lines.map((line, k) => label(line, left - 6, first + k * SIZES_OF_ROWS.lineStep, "end"));
  return svg("g", {}, title, texts);
}

function valueBar(state, layout, ids, i) {
  const { termFit, rows, x } = layout;
  const value = termFit.contribution[i];
  const [from, to] = [Math.min(x(0), x(value)), Math.max(x(0), x(value))];
  const frame = { x: from, y: rows[i].middle - 7, width: Math.max(1.5, to - from), height: 14 };
  const role = state.atReference ? "only-reference" : "main";
  const bars = [svg("rect", { ...frame, class: `dpx-bar dpx-bar-${role}` })];
  if (noiseVerdict(termFit, i) === "inside") {
    bars.push(svg("rect", { ...frame, fill: `url(#${ids.hatch})` }));
  }
  return bars;
}

function whisker({ termFit, rows, x }, i) {
  const between = (pair, half) => {
    const [from, to] = pair.map(x);
    const y = rows[i].middle;
    return `M${from} ${y}H${to}M${from} ${y - half}V${y + half}M${to} ${y - half}V${y + half}`;
  };
  const all = noiseEnds(termFit);
  if (all === null) return null;
  const privacy = privacyEnds(termFit);
  const d = between(all[i], 4) + (privacy === null ? "" : between(privacy[i], 2.5));
  return svg("path", { d, class: "dpx-whisker" });
}

/** The estimate of a row, below its bar, with the band of the whole curve. */
function estimateMark(state, { termFit, rows, x }, i) {
  const ends = shownLayer(state) === "released" ? null : effectEnds(termFit);
  if (ends === null) return [];
  const [from, to] = ends[i].map(x);
  const y = rows[i].middle + (shownLayer(state) === "both" ? 11 : 0);
  const whisker = svg("path", { d: `M${from} ${y}H${to}`, class: "dpx-effect-whisker" });
  return [whisker, effectDot(x(termFit.effect[i]), y, termFit.effect_signal?.[i])];
}

function rowOfLabel({ termFit }, text, guess) {
  return termFit.labels[guess] === text ? guess : termFit.labels.indexOf(text);
}

function otherFits(state, layout, replayed) {
  const curves = termCurves(state).filter(({ role, termFit }) => termFit !== layout.termFit && role !== "effect");
  if (replayed && shownLayer(state) !== "effect") curves.push({ role: "replay", termFit: replayed });
  return curves.flatMap(({ role, termFit }) =>
    termFit.contribution
      .map((value, i) => [layout.x(value), layout.rows[rowOfLabel(layout, termFit.labels[i], i)]])
      .filter(([x, row]) => row !== undefined && x >= layout.left && x <= layout.right + 8)
      .map(([x, row]) => pointMark(role, x, row.middle)),
  );
}

function beyondMarks(state, { termFit, rows, x, left, right }) {
  const role = state.atReference ? "reference" : "main";
  return termFit.contribution.map((value, i) => {
    if (x(value) < left + 8) return beyondMark(left + 8, rows[i].middle, "left", role);
    if (x(value) > right) return beyondMark(right, rows[i].middle, "right", role);
    return null;
  }).filter(Boolean);
}

function cutWhiskerMarks(state, { termFit, rows, x, left, right }) {
  if (shownLayer(state) === "effect") return [];
  return (noiseEnds(termFit) ?? []).flatMap(([low, high], i) => {
    const [at, y] = [x(termFit.contribution[i]), rows[i].middle];
    // A value that is off-scale has a mark of its own.
    const marks = [];
    if (x(low) < left + 7 && at >= left + 8) marks.push(beyondMark(left + 8, y, "left", "noise"));
    if (x(high) > right + 1 && at <= right) marks.push(beyondMark(right, y, "right", "noise"));
    return marks;
  });
}

/** The space occupied by the bar, the whisker, the points and the count of each row. */
function rowObstacles(state, { termFit, rows, x, countX, right, width }) {
  const ends = noiseEnds(termFit);
  const points = termCurves(state).map((curve) => curve.termFit.contribution);
  return rows.flatMap(({ middle }, i) => {
    const others = points.map((values) => values[i]).filter((value) => value !== undefined);
    const places = [0, ...others, ...(ends?.[i] ?? [])].map((value) => Math.min(right, x(value)));
    const sides = { top: middle - 8, bottom: middle + 8 };
    return [
      { left: Math.min(...places), right: Math.max(...places), ...sides },
      { left: countX(0), right: countX(Math.max(0, termFit.count[i])), ...sides },
      { left: width - 48, right: width - 8, ...sides },
    ];
  });
}

function countMarks({ termFit, rows, countX, width }, i) {
  const count = termFit.count[i];
  const frame = { x: countX(0), y: rows[i].middle - 6, height: 12 };
  return [
    svg("rect", { ...frame, width: countX(Math.max(0, count)) - countX(0), class: "dpx-count" }),
    label(formatCount(count), width - 8, rows[i].middle + 4.5, "end"),
  ];
}

function rowBackground({ rows, width }, i, kind) {
  const row = rows[i];
  if (row === undefined) return null;
  const frame = { x: 0, y: row.top, width, height: row.bottom - row.top };
  return svg("rect", { ...frame, class: `dpx-column dpx-column-${kind}` });
}

function rowsBetween(range) {
  return range === null ? [] : Array.from({ length: range[1] - range[0] + 1 }, (_, k) => range[0] + k);
}

function divider({ rows, termFit, width }) {
  const first = termFit.labels.length - termFit.special.length;
  if (termFit.special.length === 0 || first === 0) return null;
  const y = rows[first].top - SIZES_OF_ROWS.apart / 2;
  return rule(0, y, width, y, "divider");
}

function body(view, layout) {
  const { state, ids, font } = view;
  const { left, right, width, height, rows } = layout;
  const obstacles = rowObstacles(state, layout);
  const frame = { left: left + 8, right, top: 0, bottom: height };
  const shownFrame = { ...frame, right: width - 8, bottom: Math.min(height, 360) };
  const words = watermarkText(state);
  const inPlot = svg("g", { "clip-path": `url(#${ids.clip})` });
  const all = rows.map((_, i) => i);
  const released = shownLayer(state) !== "effect";
  inPlot.append(...all.flatMap((i) => [
    ...(released ? [...valueBar(state, layout, ids, i), whisker(layout, i)] : []),
    ...estimateMark(state, layout, i),
  ]).filter(Boolean));
  const picture = svg("svg", { class: "dpx-svg", width, height, "aria-hidden": "true" });
  picture.append(
    svg("defs", {}, hatchPattern(ids.hatch), clipRectangle(ids.clip, frame)),
    ...markedSpans(view).flatMap(([span, kind]) => rowsBetween(span).map((i) => rowBackground(layout, i, kind)))
      .filter(Boolean),
    ...gridLines(layout),
    // Behind the marks: it must not cover a value.
    ...[words && watermark(words, shownFrame, font, obstacles), divider(layout), inPlot].filter(Boolean),
    ...otherFits(state, layout, view.replayed),
    ...(released ? beyondMarks(state, layout) : []),
    ...cutWhiskerMarks(state, layout),
    ...all.map((i) => nameLabel(layout, i)),
    ...all.flatMap((i) => countMarks(layout, i)),
  );
  return picture;
}

function rowAt({ rows, order }, y, scrolled) {
  if (y < SIZES_OF_ROWS.head) return null;
  return order.find((i) => y + scrolled - SIZES_OF_ROWS.head < rows[i].bottom) ?? order.at(-1);
}

/** Draw the term. Returns the element, `cut`, `binAt(x, y, scrolled)` and the rows to scroll to. */
export function drawCategoricalShape(view) {
  const layout = categoricalLayout(view);
  const rows = body(view, layout);
  const element = html("div", { class: "dpx-rows" }, head(view, layout), rows);
  return {
    element,
    cut: cutWhiskerMarks(view.state, layout).length > 0,
    binAt: (_, y, scrolled) => rowAt(layout, y, scrolled),
    rowOf: (bin) => layout.rows[bin],
    headHeight: SIZES_OF_ROWS.head,
  };
}
