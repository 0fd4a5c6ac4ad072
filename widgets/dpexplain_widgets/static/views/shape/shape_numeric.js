// The shape of a numeric term: step curves over a histogram.
import {
  binColumns, columnAt, crowdsTheAxis, histogramHeights, splitSpecial, valuePosition,
} from "../../charts/bins.js";
import {
  axisValues, effectEnds, mainTerm, noiseEnds, privacyEnds, shownLayer, termCurves,
} from "../../charts/curves.js";
import { svg } from "../../kit/dom.js";
import { formatCount, formatDay, formatNumber, formatTick } from "../../kit/format.js";
import { curveNames, laneWidth } from "../../charts/curve_names.js";
import { beyondMark, clipRectangle, hatchPattern, label, LABEL_SIZE, rule } from "../../charts/marks.js";
import { bandPath, stepPath } from "../../charts/path.js";
import { linearScale, niceAxis } from "../../charts/scale.js";
import { fitText, textWidth } from "../../kit/text.js";
import { bottomLabels, fineStep } from "../../charts/bin_ticks.js";
import { watermarkOver } from "../../charts/curve_watermark.js";
import { noiseVerdict, scoreAxisTitle } from "../../kit/words.js";
import { markedSpans } from "./ranges.js";

const SIZES = { above: 34, plot: 250, between: 40, histogram: 66, below: 50 };
const CUT_MARKS_APART = 40;

function countAxis({ heights, narrow }) {
  const [, high] = niceAxis(heights.map((height, i) => (narrow[i] ? 0 : Math.max(0, height))), 2).domain;
  return { domain: [0, high], ticks: [0, high], step: high };
}

function axisWidth(axes, font) {
  const widths = axes.flatMap(({ ticks, step }) =>
    ticks.map((tick) => textWidth(formatTick(tick, step), LABEL_SIZE, font)),
  );
  return Math.ceil(Math.max(...widths)) + 14;
}

function slotWidths(special, room, font) {
  const most = Math.max(40, Math.min(120, room / (2 * special.length || 1)));
  return special.map((name) =>
    Math.min(most, Math.max(52, Math.ceil(textWidth(name, LABEL_SIZE, font)) + 16)),
  );
}

function slotsFrom(left, widths) {
  let edge = left;
  return widths.map((width) => {
    edge += width;
    return [edge - width + 6, edge - 6];
  });
}

/** Positions and scales for the drawing functions. */
function numericLayout({ state, width, font, options }) {
  const termFit = mainTerm(state);
  const values = niceAxis(axisValues(state, options.everyEpsilon), 7);
  const left = axisWidth([values, ...[true, false].map((same) =>
    countAxis(histogramHeights(termFit, same)))], font);
  const widths = slotWidths(termFit.special, width - left, font);
  const slots = widths.reduce((sum, each) => sum + each, 0);
  const isDate = state.term.is_date;
  const last = termFit.edges.at(-1);
  const lastLabel = textWidth(isDate ? formatDay(last) : formatTick(last, fineStep(termFit.edges)), LABEL_SIZE, font);
  const lane = laneWidth(state, width, font);
  const gap = Math.max(lane, slots ? Math.max(18, lastLabel / 2 + 8) : lastLabel / 2 + 4);
  const right = Math.floor(width - gap - slots);
  const [top, bottom] = [SIZES.above, SIZES.above + SIZES.plot];
  const histogramTop = bottom + SIZES.between;
  const histogramBottom = histogramTop + SIZES.histogram;
  const everyFit = state.payload.fits.flat().map((fit) => fit.terms[state.termIndex]);
  const even = options.evenBins ?? crowdsTheAxis([termFit, ...everyFit], right - left);
  const x = valuePosition(termFit.edges, even, left, right);
  const bars = histogramHeights(termFit, even);
  const { heights, width: per } = bars;
  const counts = countAxis(bars);
  return {
    lane, termFit, isDate, values, counts, heights, per, left, right, gap, top, bottom,
    histogramTop, histogramBottom, even, x, width,
    end: slots ? right + gap + slots : right,
    height: histogramBottom + SIZES.below,
    columns: binColumns(termFit.edges, x, slotsFrom(right + gap, widths)),
    y: linearScale(values.domain, [bottom, top]),
    countY: linearScale(counts.domain, [histogramBottom, histogramTop]),
  };
}

function grid(layout) {
  const { left, end, values, y, counts, countY, histogramBottom } = layout;
  const lines = values.ticks.map((tick) => {
    const kind = tick === 0 ? "zero" : "grid";
    return [
      rule(left, y(tick), end, y(tick), kind),
      label(formatTick(tick, values.step), left - 8, y(tick) + 4.5, "end"),
    ];
  });
  const tops = counts.ticks.map((tick) =>
    label(formatTick(tick, counts.step), left - 8, countY(tick) + 4.5, "end"),
  );
  return [...lines.flat(), ...tops, rule(left, histogramBottom, end, histogramBottom, "axis")];
}

function slotLabels(layout, font) {
  const { termFit, columns, histogramBottom } = layout;
  const offset = columns.length - termFit.special.length;
  return termFit.special.map((name, i) => {
    const [left, right] = columns[offset + i];
    const text = fitText(name, right - left + 8, LABEL_SIZE, font);
    return label(text, (left + right) / 2, histogramBottom + 19);
  });
}

function axisTitles({ state, font }, layout) {
  const { left, right, histogramBottom, histogramTop, width, even } = layout;
  const unit = state.term.unit ? ` (${state.term.unit})` : "";
  const inUnit = state.term.name.toLowerCase().includes(unit.trim().toLowerCase()) ? "" : unit;
  const fit = (text, room) => fitText(text, room, LABEL_SIZE, font);
  const room = width - 8;
  const whole = `${state.term.name}${inUnit}, equal-width bins`;
  const noted = even && textWidth(whole, LABEL_SIZE, font) <= room; // else the title of the histogram says it
  const after = noted ? `${inUnit}, equal-width bins` : fit(inUnit, 0.6 * room);
  const name = fit(state.term.name, room - textWidth(after, LABEL_SIZE, font));
  const below = `${name}${after}`;
  const half = textWidth(below, LABEL_SIZE, font) / 2;
  const center = Math.max(half + 4, Math.min(width - half - 4, (left + right) / 2));
  const bin = even && !noted ? "equal-width bin" : "bin";
  const wide = layout.per === null ? bin : `bin of width ${formatNumber(layout.per, 3)}`;
  const counted = `records per ${wide}${state.fit.guarantee.private ? " (noisy count)" : ""}`;
  const title = scoreAxisTitle(state.payload, (words) => textWidth(words, LABEL_SIZE, font) <= width - 8);
  return [
    label(fit(title, room), 0, 15, "start", "dpx-axis-title"),
    label(fit(counted, room), 0, histogramTop - 13, "start", "dpx-axis-title"),
    label(below, center, histogramBottom + 42, "middle", "dpx-axis-title"),
  ];
}

/** A frame around the bins of a span. */
function highlight({ columns, top, histogramBottom }, span, kind) {
  const [first, last] = (span ?? []).map((bin) => columns[bin]);
  if (first === undefined || last === undefined) return null;
  const frame = { x: first[0], y: top, width: Math.max(2, last[1] - first[0]), height: histogramBottom - top };
  return svg("rect", { ...frame, class: `dpx-column dpx-column-${kind}` });
}

function bandParts({ termFit, columns, x, y }, ends, kind = "dpx-band") {
  const [low, high] = [0, 1].map((end) => ends.map((pair) => pair[end]));
  const on = (values) => splitSpecial(termFit, values).ordinary;
  const band = svg("path", { d: bandPath(termFit.edges, on(low), on(high), x, y), class: kind });
  const boxes = columns.slice(on(low).length).map(([left, right], i) => {
    const bin = on(low).length + i;
    const attributes = { x: left, y: y(high[bin]), width: right - left, class: kind };
    return svg("rect", { ...attributes, height: y(low[bin]) - y(high[bin]) });
  });
  return [band, ...boxes];
}

function noiseBand(layout, ids) {
  const { termFit, columns, y } = layout;
  const ends = noiseEnds(termFit);
  if (ends === null) return [];
  const [low, high] = [0, 1].map((end) => ends.map((pair) => pair[end]));
  const privacy = privacyEnds(termFit);
  const bands = [ends, privacy].filter(Boolean).flatMap((pairs) => bandParts(layout, pairs));
  const isInside = (i) => noiseVerdict(termFit, i) === "inside";
  const hatched = columns.map(([left, right], i) => {
    if (!isInside(i)) return null;
    const frame = { x: left, y: y(high[i]), width: right - left, height: y(low[i]) - y(high[i]) };
    return svg("rect", { ...frame, fill: `url(#${ids.hatch})` });
  });
  return [...bands, ...hatched.filter(Boolean)];
}

/** The bands of the visible layers, the effect band behind. */
function shownBands(layout, ids, layer) {
  const ends = layer === "released" ? null : effectEnds(layout.termFit);
  return [
    ...(ends === null ? [] : bandParts(layout, ends, "dpx-effect-band")),
    ...(layer === "effect" ? [] : noiseBand(layout, ids)),
  ];
}

/** Marks where the band continues off-scale, spaced far enough apart. */
function cutBandMarks({ termFit, columns, y, top, bottom }, layer) {
  const last = { up: -Infinity, down: -Infinity };
  const values = layer === "effect" ? termFit.effect : termFit.contribution;
  const markAt = (i, end, direction) => {
    const x = (columns[i][0] + columns[i][1]) / 2;
    const isBeyond = (value) => (direction === "up" ? y(value) < top - 1 : y(value) > bottom + 1);
    // A value that is off-scale has a mark of its own.
    const cut = isBeyond(end) && !isBeyond(values[i]);
    if (!cut || x - last[direction] < CUT_MARKS_APART) return null;
    last[direction] = x;
    return beyondMark(x, direction === "up" ? top : bottom, direction, "noise");
  };
  const ends = (layer === "effect" ? effectEnds(termFit) : noiseEnds(termFit)) ?? [];
  return ends.flatMap(([low, high], i) => [markAt(i, high, "up"), markAt(i, low, "down")]).filter(Boolean);
}

function dash({ y, top, bottom }, [left, right], value, role, kind) {
  const [at, middle] = [y(value), (left + right) / 2];
  if (at < top) return beyondMark(middle, top, "up", role);
  if (at > bottom) return beyondMark(middle, bottom, "down", role);
  return svg("path", { d: `M${left} ${at}H${right}`, class: kind });
}

function curve({ role, termFit }, layout) {
  const { ordinary, special } = splitSpecial(termFit, termFit.contribution);
  const kind = `dpx-curve dpx-curve-${role}`;
  const line = svg("path", { d: stepPath(termFit.edges, ordinary, layout.x, layout.y), class: kind });
  const offset = layout.columns.length - layout.termFit.special.length;
  const dashes = special.map((value, i) => {
    const column = layout.columns[offset + i];
    if (column === undefined) return null;
    return dash(layout, column, value, role, kind);
  });
  return [line, ...dashes];
}

function histogram(layout) {
  const { termFit, heights, columns, countY, histogramTop, histogramBottom } = layout;
  return heights.map((count, i) => {
    const [left, right] = columns[i];
    const gap = right - left > 4 ? 1 : 0;
    const top = Math.max(histogramTop, countY(Math.max(0, count)));
    const frame = { x: left + gap / 2, y: top, width: Math.max(0.5, right - left - gap) };
    const bar = svg("rect", { ...frame, height: histogramBottom - top, class: "dpx-count" });
    bar.append(svg("title", {}, formatCount(termFit.count[i])));
    const isCut = countY(count) < histogramTop - 1;
    return isCut ? [bar, beyondMark((left + right) / 2, histogramTop, "up", "noise")] : [bar];
  }).flat();
}

function slotDivider({ right, gap, lane, termFit, top, histogramBottom }) {
  if (termFit.special.length === 0) return null;
  const x = right + (lane > 0 ? gap - 4 : gap / 2);
  return rule(x, top, x, histogramBottom, "divider");
}

/** Draw the term. Returns the element, `binAt(x)`, whether bins have equal width, and `cut`. */
export function drawNumericShape(view) {
  const { state, ids, font } = view;
  const layout = numericLayout(view);
  const frame = { left: layout.left, right: layout.end, top: layout.top, bottom: layout.bottom };
  const layer = shownLayer(state);
  const cutMarks = cutBandMarks(layout, layer);
  const inPlot = svg("g", { "clip-path": `url(#${ids.clip})` });
  inPlot.append(...shownBands(layout, ids, layer));
  const replayed = view.replayed && layer !== "effect" ? [{ role: "replay", termFit: view.replayed }] : [];
  const curves = [...termCurves(state), ...replayed];
  inPlot.append(...curves.flatMap((each) => curve(each, layout)).filter(Boolean));
  const picture = svg("svg", {
    class: "dpx-svg", width: layout.width, height: layout.height, "aria-hidden": "true",
  });
  picture.append(
    svg("defs", {}, hatchPattern(ids.hatch), clipRectangle(ids.clip, frame)),
    ...markedSpans(view).map(([span, kind]) => highlight(layout, span, kind)).filter(Boolean),
    ...grid(layout),
    ...histogram(layout),
    ...curveNames(state, layout, curves, font),
    ...[slotDivider(layout), inPlot, watermarkOver(view, layout, frame)].filter(Boolean),
    ...cutMarks,
    ...axisTitles(view, layout),
    ...bottomLabels(layout, font),
    ...slotLabels(layout, font),
  );
  const binAt = (x) => columnAt(layout.columns, x);
  return { element: picture, binAt, even: layout.even, cut: cutMarks.length > 0 };
}
