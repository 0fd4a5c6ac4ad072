// The waterfall of one sample: from the intercept, term by term, to the score.
import { flips, signWord } from "./contributions.js";
import { svg } from "../../kit/dom.js";
import { formatSigned, formatTick, shortName } from "../../kit/format.js";
import { pointMark } from "../../charts/legend.js";
import { hatchPattern, label, LABEL_SIZE, rule } from "../../charts/marks.js";
import { linearScale, niceTicks } from "../../charts/scale.js";
import { fitText, labelsThatFit, textWidth, wrapText } from "../../kit/text.js";
import { watermark } from "../../charts/watermark.js";

const FALL = { row: 34, head: 30, bar: 16, most: 14 };

/** Terms in the order of a waterfall: the largest contributions first; the rest is summed. */
export function waterfallOrder(parts, most = FALL.most) {
  const order = parts.map((_, i) => i).sort((a, b) => Math.abs(parts[b].value) - Math.abs(parts[a].value));
  if (order.length <= most) return { terms: order, rest: [] };
  return { terms: order.slice(0, most - 1), rest: order.slice(most - 1) };
}

function summed(parts, places) {
  const squares = places.reduce((sum, i) => sum + (parts[i].std ?? 0) ** 2, 0);
  const known = places.every((i) => parts[i].std !== null);
  const value = places.reduce((sum, i) => sum + parts[i].value, 0);
  return { value, std: known ? Math.sqrt(squares) : null, label: "" };
}

/**
 * Rows from the intercept to the score, each with its start: [{kind, i, start, part}].
 * @param {import("../../types").Fit} fit
 */
export function waterfallRows(fit, explained, { terms, rest }) {
  const total = (value, std) => ({ value, std, label: "" });
  const rows = [{ kind: "intercept", start: 0, part: total(fit.intercept, fit.intercept_std) }];
  let level = fit.intercept;
  const add = (row) => {
    rows.push({ ...row, start: level });
    level += row.part.value;
  };
  terms.forEach((i) => add({ kind: "term", i, part: explained.parts[i] }));
  if (rest.length) add({ kind: "rest", places: rest, part: summed(explained.parts, rest) });
  rows.push({ kind: "score", start: 0, part: total(explained.score, explained.scoreStd) });
  return rows;
}

function comparedPart(row, explained) {
  if (row.kind === "term") return explained.parts[row.i];
  if (row.kind === "rest") return summed(explained.parts, row.places);
  return { value: row.kind === "score" ? explained.score : explained.intercept };
}

function rowName(view, row) {
  const { terms } = view.state.payload;
  if (row.kind === "intercept") return "start (intercept)";
  if (row.kind === "score") return "score";
  if (row.kind === "rest") return `${row.places.length} more terms`;
  return `${shortName(terms[row.i].name, 60)} = ${view.valueText(row.i)}`;
}

// The score may be far from zero, so the axis need not include it.
function fallDomain({ rows, others }) {
  const values = rows.flatMap((row) => {
    const end = row.start + row.part.value;
    const half = 2 * (row.part.std ?? 0);
    const beside = others.map(({ explained }) => row.start + comparedPart(row, explained).value);
    return [end - half, end + half, ...beside];
  });
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const room = (high - low || 1) * 0.04;
  return [low - room, high + room];
}

function fallLayout(view) {
  const { width, rows, font } = view;
  const narrow = width < 560;
  const left = Math.round(Math.max(104, Math.min(260, width * (narrow ? 0.4 : 0.3))));
  const texts = rows.map((row) => formatSigned(row.part.value));
  const number = Math.ceil(Math.max(...texts.map((text) => textWidth(text, LABEL_SIZE, font, "bold")))) + 8;
  const words = narrow ? 0 : 118;
  const right = width - number - words - 10;
  const domain = fallDomain(view);
  const axis = niceTicks(...domain, Math.max(3, (right - left) / 90));
  return {
    ...view, narrow, left, right, number, words, texts, axis,
    x: linearScale(domain, [left + 14, right - 8]),
    middle: (k) => FALL.head + (k + 0.5) * FALL.row,
    height: FALL.head + rows.length * FALL.row + 4,
  };
}

function axisMarks({ axis, x, height, font }) {
  const words = axis.ticks.map((tick) => {
    const text = formatTick(tick, axis.step);
    return { text, center: x(tick), width: textWidth(text, LABEL_SIZE, font), priority: 0 };
  });
  return [
    ...axis.ticks.map((tick) => rule(x(tick), FALL.head, x(tick), height, "grid")),
    ...labelsThatFit(words, 8).map((i) => label(words[i].text, words[i].center, 18)),
  ];
}

function isTotal(row) {
  return row.kind === "score" || row.kind === "intercept";
}

function rowBar({ x, middle, ids, state }, row, k) {
  const [from, to] = [row.start, row.start + row.part.value].map(x);
  if (isTotal(row)) return [svg("circle", { cx: to, cy: middle(k), r: 6.5, class: "dpx-fall-total" })];
  const width = Math.max(1.5, Math.abs(to - from));
  const frame = { x: Math.min(from, to), y: middle(k) - FALL.bar / 2, height: FALL.bar, width };
  const role = state.atReference ? "only-reference" : "main";
  const bars = [svg("rect", { ...frame, class: `dpx-bar dpx-bar-${role}` })];
  if (signWord(row.part) === "uncertain") bars.push(svg("rect", { ...frame, fill: `url(#${ids.hatch})` }));
  return bars;
}

function rowWhisker({ x, middle }, row, k) {
  const { value, std } = row.part;
  if (!std) return null;
  const [low, high] = [x(row.start + value - 2 * std), x(row.start + value + 2 * std)];
  const y = middle(k);
  const d = `M${low} ${y}H${high}M${low} ${y - 4}V${y + 4}M${high} ${y - 4}V${y + 4}`;
  return svg("path", { d, class: "dpx-whisker" });
}

function linkLine({ x, middle, rows }, row, k) {
  if (k === 0) return null;
  const from = x(k === rows.length - 1 ? row.part.value : row.start);
  const d = `M${from} ${middle(k - 1) + FALL.bar / 2}V${middle(k) - FALL.bar / 2}`;
  return svg("path", { d, class: "dpx-fall-link" });
}

function rowTexts(layout, row, k) {
  const { left, width, words, font, texts, state, middle } = layout;
  const y = middle(k) + 4.5;
  const chosen = row.kind === "term" && row.i === state.termIndex ? "dpx-stop-chosen" : "";
  const bold = row.kind === "score" ? "dpx-stop-chosen" : "";
  const name = rowName(layout, row);
  const fit = (cut) => cut(name, left - 8, LABEL_SIZE, font);
  const lines = layout.narrow ? fit(wrapText) : [fit(fitText)];
  const names = lines.map((line, n) =>
    label(line, 2, y + (n - (lines.length - 1) / 2) * 14, "start", `dpx-axis-title ${chosen} ${bold}`));
  for (const text of names) text.append(svg("title", {}, name));
  const number = label(texts[k], width - words - 4, y, "end", `dpx-axis-title ${bold}`);
  return [...names, number, ...(words ? [label(rowVerdict(layout, row), width - words + 6, y, "start")] : [])];
}

function rowVerdict({ others }, row) {
  if (row.kind !== "term") return "";
  const reference = others.find(({ role }) => role === "reference");
  if (reference && flips(row.part, reference.explained.parts[row.i])) return "⇄ sign flips";
  const word = signWord(row.part);
  return word === null ? "" : `sign ${word}`;
}

function comparedMarks(layout, row, k) {
  return layout.others.map(({ role, explained }) =>
    pointMark(role, layout.x(row.start + comparedPart(row, explained).value), layout.middle(k)));
}

function chosenRow({ rows, state, width, middle }) {
  const k = rows.findIndex((row) => row.kind === "term" && row.i === state.termIndex);
  if (k < 0) return null;
  const frame = { x: 0, y: middle(k) - FALL.row / 2, width, height: FALL.row };
  return svg("rect", { ...frame, class: "dpx-column dpx-column-chosen" });
}

/** Draw the waterfall. Returns the element and `rowAt(y)`. */
export function drawWaterfall(view) {
  const layout = fallLayout(view);
  const { rows, height, left, right } = layout;
  const picture = svg("svg", { class: "dpx-svg", width: view.width, height, "aria-hidden": "true" });
  const frame = { left: left + 10, right, top: FALL.head, bottom: height };
  const obstacles = rows.flatMap((row, k) => {
    const ends = [isTotal(row) ? row.part.value : row.start, row.start + row.part.value].map(layout.x);
    const [top, bottom] = [layout.middle(k) - 9, layout.middle(k) + 9];
    return [{ left: Math.min(...ends) - 30, right: Math.max(...ends) + 30, top, bottom }];
  });
  picture.append(
    svg("defs", {}, hatchPattern(layout.ids.hatch, "bar")),
    ...[chosenRow(layout)].filter(Boolean),
    ...axisMarks(layout),
    ...(view.mark ? [watermark(view.mark, frame, view.font, obstacles)] : []),
    ...rows.flatMap((row, k) => [
      linkLine(layout, row, k), ...rowBar(layout, row, k), rowWhisker(layout, row, k),
      ...comparedMarks(layout, row, k), ...rowTexts(layout, row, k),
    ]).filter(Boolean),
  );
  const rowAt = (y) => rows[Math.floor((y - FALL.head) / FALL.row)] ?? null;
  return { element: picture, rowAt };
}
