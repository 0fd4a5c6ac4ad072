// The bump chart: a line for each term, through its rank at each epsilon. It is built once for
// a list of terms and a width; a choice changes only a few attributes.
import { html, svg } from "../../kit/dom.js";
import { formatEpsilon, shortName } from "../../kit/format.js";
import { label, LABEL_SIZE, rule } from "../../charts/marks.js";
import { bumpPath, rankColumns, ribbonPath, squeezed } from "./ranks.js";
import { nearestIndex } from "../../charts/scale.js";
import { fitTexts, labelsThatFit, textWidth } from "../../kit/text.js";

const RANK = { head: 34, row: 24, tallest: 38, together: 340, edge: 14, apart: 64, below: 8 };
const MANY = 40; // with this many terms, no line is dashed
const POINT = { usual: 4, chosen: 5.5 };

function nameWidth({ state, width, font, listed }) {
  const widthOf = (i) => textWidth(shortName(state.payload.terms[i].name, 60), LABEL_SIZE, font, "bold");
  const names = listed.map(widthOf);
  return Math.ceil(Math.min(Math.max(40, ...names), width < 520 ? width * 0.3 : width * 0.22, 190)) + 10;
}

function columnPlaces(columns, left, right) {
  const apart = columns.at(-1).isReference && columns.length > 1 ? RANK.apart : 0;
  const inner = columns.length - (apart ? 1 : 0);
  const step = inner > 1 ? (right - apart - left) / (inner - 1) : 0;
  const start = inner > 1 ? left : (left + right - apart) / 2;
  return columns.map((column, i) => (apart && column.isReference ? right : start + i * step));
}

function rankLayout(view) {
  const { state, width, listed } = view;
  const columns = rankColumns(state);
  const names = nameWidth(view);
  const narrow = width < 520;
  const left = (narrow ? 8 : names) + RANK.edge;
  const right = width - names - RANK.edge;
  const x = columnPlaces(columns, left, right);
  const row = Math.max(RANK.row, Math.min(RANK.tallest, RANK.together / listed.length));
  const y = (place) => (place - 0.5) * row;
  const at = columns.map(({ places }) => squeezed(places, listed));
  const room = 0.9 * names; // the name of the chosen term is bold
  const texts = fitTexts(listed.map((i) => state.payload.terms[i].name), room, LABEL_SIZE, view.font);
  return {
    columns, names, narrow, left, right, x, y, at, row, width, listed, texts,
    height: listed.length * row + RANK.below,
  };
}

function headLine({ state, font }, { columns, x, width }) {
  const { epsilons } = state.payload;
  const texts = columns.map(({ stop, isReference }) =>
    (isReference ? "∞, not private" : formatEpsilon(epsilons[stop])));
  const labels = texts.map((text, k) => ({
    width: textWidth(text, LABEL_SIZE, font, "bold"),
    center: x[k],
    priority: k === state.stop ? 0 : 1 + (k % 2),
  }));
  labels.forEach((each) => {
    each.center = Math.max(each.width / 2 + 1, Math.min(width - each.width / 2 - 1, each.center));
  });
  return labelsThatFit(labels, 6).map((k) => {
    const chosen = k === state.stop ? "dpx-stop-chosen" : "";
    const apart = columns[k].isReference ? "dpx-rank-reference" : "";
    return label(texts[k], labels[k].center, 20, "middle", `dpx-stop-label ${chosen} ${apart}`);
  });
}

function ribbon(layout, i) {
  const inner = layout.columns.filter(({ isReference, fit }) => !isReference && fit.terms[i].ranks);
  if (inner.length === 0) return null;
  const placeAt = ({ fit, stop }, which) => layout.y(layout.at[stop](fit.terms[i].ranks[which]));
  const end = (which) => inner.map((column) => [layout.x[column.stop], placeAt(column, which)]);
  const widened = (points, by) => points.map(([x, y]) => [x, y + by]);
  const [upper, lower] = [widened(end(0), -8), widened(end(1), 8)];
  if (inner.length === 1) {
    const [[x, top], [, bottom]] = [upper[0], lower[0]];
    return svg("rect", { x: x - 8, y: top, width: 16, height: bottom - top, class: "dpx-rank-ribbon" });
  }
  return svg("path", { d: ribbonPath(upper, lower), class: "dpx-rank-ribbon" });
}

/** The marks of a term: {group, paint(chosen, noise)}. */
function termMarks(view, layout, i) {
  const points = layout.columns.map(({ places }, k) => [layout.x[k], layout.y(layout.at[k](places[i]))]);
  const apart = layout.columns.at(-1).isReference;
  const inner = apart ? points.slice(0, -1) : points;
  // Circles: a browser paints many of them in half the time of a single path with all of them.
  const circles = inner.map(([cx, cy], k) => {
    const noise = layout.columns[k].fit.terms[i].above_noise === false ? " dpx-rank-point-noise" : "";
    return svg("circle", { cx, cy, r: POINT.usual, class: `dpx-rank-point${noise}` });
  });
  const link = apart && inner.length > 0
    ? svg("path", { d: bumpPath(points.slice(-2)), class: "dpx-rank-line dpx-rank-link" }) : null;
  const [x, y] = points.at(-1);
  const last = apart
    ? svg("path", { d: `M${x} ${y}m0 -6l5 6l-5 6l-5 -6Z`, class: "dpx-rank-point dpx-rank-point-reference" }) : null;
  const line = svg("path", { d: bumpPath(inner), class: "dpx-rank-line" });
  const group = svg("g", {}, link, line, circles, last, nameLabels(view, layout, points, i));
  const paint = (chosen, noise) => {
    for (const circle of circles) circle.setAttribute("r", chosen ? POINT.chosen : POINT.usual);
    group.setAttribute("class", `dpx-rank-term${chosen ? " dpx-rank-chosen" : ""}${noise ? " dpx-rank-noise" : ""}`);
  };
  return { group, paint };
}

function nameLabels({ state }, layout, points, i) {
  const text = layout.texts[layout.listed.indexOf(i)];
  const title = svg("title", {}, shortName(state.payload.terms[i].name, 500));
  const [x, y] = points.at(-1);
  const last = label(text, x + RANK.edge - 3, y + 4.5, "start", "dpx-rank-name");
  last.append(title);
  if (layout.narrow || points.length < 2) return [last];
  const [firstX, firstY] = points[0];
  return [label(text, firstX - RANK.edge + 3, firstY + 4.5, "end", "dpx-rank-name"), last];
}

function nearestTerm(layout, x, y) {
  const column = nearestIndex(layout.x, x);
  const place = Math.max(1, Math.min(layout.listed.length, Math.round(y / layout.row + 0.5)));
  const { places } = layout.columns[column];
  return layout.listed.find((i) => layout.at[column](places[i]) === place) ?? null;
}

/** The inputs a chart is built from; a change needs a new chart. */
function groundOf({ state, listed, width, font }) {
  return [state.payload, state.repeat, state.reference, width, font, listed.join()];
}

/** A chart of a list of terms. Put `element` somewhere and call `update` when a choice changes. */
export class RankChart {
  constructor(view) {
    this.ground = groundOf(view);
    this.layout = rankLayout(view);
    const { width, height, listed } = this.layout;
    this.head = svg("svg", { class: "dpx-svg dpx-rank-head", width, height: RANK.head, "aria-hidden": "true" });
    this.divider = rule(0, 0, 0, height, "divider");
    this.behind = svg("g");
    this.marks = new Map(listed.map((i) => [i, termMarks(view, this.layout, i)]));
    this.painted = new Map();
    const groups = listed.map((i) => this.marks.get(i).group);
    this.lines = svg("g", {}, groups);
    const picture = svg("svg", { class: "dpx-svg", width, height, "aria-hidden": "true" },
      this.divider, this.behind, this.lines);
    const many = listed.length > MANY ? "dpx-rank-many" : "";
    this.element = html("div", { class: `dpx-rank-rows ${many}`.trim() }, this.head, picture);
    this.update(view);
  }

  /** Whether the chart shows these terms at this width. */
  isFor(view) {
    return groundOf(view).every((each, k) => each === this.ground[k]);
  }

  /** Show the chosen epsilon and term. */
  update(view) {
    const { state } = view;
    this.state = state;
    this.head.replaceChildren(...headLine(view, this.layout));
    const x = this.layout.x[state.stop];
    this.divider.setAttribute("visibility", x === undefined ? "hidden" : "visible");
    if (x !== undefined) for (const end of ["x1", "x2"]) this.divider.setAttribute(end, x);
    for (const i of this.marks.keys()) this.paint(i, i === state.termIndex);
    if (this.chosen === state.termIndex) return;
    this.chosen = state.termIndex;
    const chosen = this.marks.get(state.termIndex);
    this.behind.replaceChildren(...(chosen ? [ribbon(this.layout, state.termIndex)].filter(Boolean) : []));
    if (chosen) this.lines.append(chosen.group); // above all others
  }

  paint(i, chosen) {
    const noise = this.state.fit.terms[i].above_noise === false;
    const look = `${chosen} ${noise}`;
    if (this.painted.get(i) === look) return;
    this.painted.set(i, look);
    this.marks.get(i).paint(chosen, noise);
  }

  /** The term at a point of the element, or null. */
  termAt(x, y) {
    return y < RANK.head ? null : nearestTerm(this.layout, x, y - RANK.head);
  }

  /** Top and bottom of the row of a term in the selected fit. */
  rowOf(i) {
    const { columns, at, row, y } = this.layout;
    const column = Math.min(this.state.stop, columns.length - 1);
    const middle = y(at[column](columns[column].places[i]));
    return [RANK.head + middle - row, RANK.head + middle + row];
  }
}
