// The bump chart: one line for each term, through its place at each epsilon.
import { html, svg } from "./dom.js";
import { formatEpsilon, shortName } from "./format.js";
import { label, LABEL_SIZE, rule } from "./marks.js";
import { bumpPath, rankColumns, ribbonPath, squeezed } from "./ranks.js";
import { nearestIndex } from "./scale.js";
import { fitText, labelsThatFit, textWidth } from "./text.js";

const RANK = { head: 34, row: 24, tallest: 38, together: 340, edge: 14, apart: 64, below: 8 };

function nameWidth({ state, width, font, listed }) {
  const widthOf = (i) => textWidth(shortName(state.payload.terms[i].name, 60), LABEL_SIZE, font, "bold");
  const names = listed.map(widthOf);
  return Math.ceil(Math.min(Math.max(40, ...names), width < 520 ? width * 0.26 : width * 0.22, 190)) + 10;
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
  return {
    columns, names, narrow, left, right, x, y, at, row, width, listed,
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
  const kept = labelsThatFit(labels, 6).map((k) => {
    const chosen = k === state.stop ? "dpx-stop-chosen" : "";
    const apart = columns[k].isReference ? "dpx-rank-reference" : "";
    return label(texts[k], labels[k].center, 20, "middle", `dpx-stop-label ${chosen} ${apart}`);
  });
  return svg("svg", { class: "dpx-svg dpx-rank-head", width, height: RANK.head, "aria-hidden": "true" }, kept);
}

function lineOf(layout, i) {
  const points = layout.columns.map(({ places }, k) => [layout.x[k], layout.y(layout.at[k](places[i]))]);
  const inner = layout.columns.at(-1).isReference ? points.slice(0, -1) : points;
  return { points, inner };
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

function marksOf(layout, i, kind) {
  const { points } = lineOf(layout, i);
  return layout.columns.map(({ fit, isReference }, k) => {
    const [x, y] = points[k];
    if (isReference) {
      const d = `M${x} ${y}m0 -6l5 6l-5 6l-5 -6Z`;
      return svg("path", { d, class: `dpx-rank-point dpx-rank-point-reference ${kind}` });
    }
    const noise = fit.terms[i].above_noise === false ? "dpx-rank-point-noise" : "";
    return svg("circle", { cx: x, cy: y, r: kind ? 5.5 : 4, class: `dpx-rank-point ${noise} ${kind}` });
  });
}

function termLine(view, layout, i) {
  const chosen = i === view.state.termIndex;
  const kind = chosen ? "dpx-rank-chosen" : "";
  const { points, inner } = lineOf(layout, i);
  const above = view.state.fit.terms[i].above_noise;
  const style = `dpx-rank-line ${above === false ? "dpx-rank-line-noise" : ""} ${kind}`;
  const link = inner.length < points.length && inner.length > 0
    ? svg("path", { d: bumpPath(points.slice(-2)), class: `${style} dpx-rank-link` }) : null;
  return [link, svg("path", { d: bumpPath(inner), class: style }), ...marksOf(layout, i, kind)].filter(Boolean);
}

function nameLabels(view, layout, i) {
  const { state, font } = view;
  const chosen = i === state.termIndex ? "dpx-stop-chosen" : "";
  const muted = state.fit.terms[i].above_noise === false ? "" : "dpx-axis-title";
  const text = fitText(state.payload.terms[i].name, layout.names - 12, LABEL_SIZE, font);
  const { points } = lineOf(layout, i);
  const title = svg("title", {}, shortName(state.payload.terms[i].name, 500));
  const last = label(text, points.at(-1)[0] + RANK.edge - 3, points.at(-1)[1] + 4.5, "start", `${muted} ${chosen}`);
  last.append(title);
  if (layout.narrow || points.length < 2) return [last];
  return [label(text, points[0][0] - RANK.edge + 3, points[0][1] + 4.5, "end", `${muted} ${chosen}`), last];
}

function nearestTerm(layout, x, y) {
  const column = nearestIndex(layout.x, x);
  const place = Math.max(1, Math.min(layout.listed.length, Math.round(y / layout.row + 0.5)));
  const { places } = layout.columns[column];
  return layout.listed.find((i) => layout.at[column](places[i]) === place) ?? null;
}

/** Draw the chart. Returns the element and `termAt(x, y)` in its coordinates. */
export function drawRanks(view) {
  const layout = rankLayout(view);
  const { state, listed } = view;
  const others = listed.filter((i) => i !== state.termIndex);
  const chosen = listed.includes(state.termIndex) ? [state.termIndex] : [];
  const picture = svg("svg", { class: "dpx-svg", width: layout.width, height: layout.height, "aria-hidden": "true" });
  const stopX = layout.x[state.stop];
  picture.append(
    ...(stopX === undefined ? [] : [rule(stopX, 0, stopX, layout.height, "divider")]),
    ...chosen.map((i) => ribbon(layout, i)).filter(Boolean),
    ...[...others, ...chosen].flatMap((i) => termLine(view, layout, i)),
    ...listed.flatMap((i) => nameLabels(view, layout, i)),
  );
  const box = html("div", { class: "dpx-rank-rows" }, headLine(view, layout), picture);
  return {
    element: box,
    termAt: (x, y) => (y < RANK.head ? null : nearestTerm(layout, x, y - RANK.head)),
    rowOf: (i) => {
      const column = layout.columns[Math.min(state.stop, layout.columns.length - 1)];
      const middle = layout.y(layout.at[layout.columns.indexOf(column)](column.places[i]));
      return [RANK.head + middle - layout.row, RANK.head + middle + layout.row];
    },
  };
}
