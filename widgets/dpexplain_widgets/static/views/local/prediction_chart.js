// The prediction for one sample at every epsilon, with its interval and the threshold.
import { html, setText, svg } from "../../kit/dom.js";
import { label, LABEL_SIZE } from "../../charts/marks.js";
import { formatEpsilon, formatNumber, quotedName } from "../../kit/format.js";
import { fontOf, textWidth } from "../../kit/text.js";
import { hasPrediction, predictionsOverEpsilon } from "./people.js";

const SIZE = { height: 150, top: 10, bottom: 26, right: 12 };

function chartWords(name, found, threshold) {
  const each = found.map(({ epsilon, prediction, ends }) => {
    const between = ends === null ? "" : ` (95% between ${formatNumber(ends[0])} and ${formatNumber(ends[1])})`;
    return `ε = ${formatEpsilon(epsilon)}: ${formatNumber(prediction)}${between}`;
  });
  const limit = threshold === null ? "" : `; compared with ${formatNumber(threshold)}`;
  return `${name} at every ε: ${each.join(", ")}${limit}`;
}

function drawChart(found, { width, font, threshold, stop, isShare }) {
  const numbers = found.flatMap(({ prediction, ends }) => [prediction, ...(ends ?? [])]).filter(Number.isFinite);
  const limits = threshold === null ? numbers : [...numbers, threshold];
  const [low, high] = isShare ? [0, 1] : [Math.min(...limits), Math.max(...limits)];
  const left = Math.max(50, ...[low, high].map((end) => textWidth(formatNumber(end), LABEL_SIZE, font))) + 6;
  const height = SIZE.height - SIZE.top - SIZE.bottom;
  const y = (value) => SIZE.top + height * (1 - (value - low) / (high - low || 1));
  const step = (width - left - SIZE.right) / found.length;
  const x = (i) => left + (i + 0.5) * step;
  const every = Math.ceil(44 / step);
  const line = (value, name) => svg("line", {
    x1: left, x2: width - SIZE.right, y1: y(value), y2: y(value), class: name,
  });
  const whisker = (ends, i) => `M${x(i)} ${y(ends[0])}V${y(ends[1])}` +
    ends.map((end) => `M${x(i) - 4} ${y(end)}h8`).join("");
  const marks = found.map(({ prediction, ends }, i) => [
    ends === null ? null : svg("path", { class: "dpx-whisker", d: whisker(ends, i) }),
    svg("circle", { cx: x(i), cy: y(prediction), r: i === stop ? 5 : 3.5, class: "dpx-prediction-point" }),
  ]);
  return svg("svg", { class: "dpx-svg", width, height: SIZE.height, "aria-hidden": "true" },
    [low, high].map((value) => line(value, "dpx-prediction-end")),
    [low, high].map((value) => label(formatNumber(value), left - 6, y(value) + 4, "end")),
    threshold === null ? null : line(threshold, "dpx-prediction-threshold"),
    marks,
    found.map(({ epsilon }, i) => (i % every === 0 || i === stop
      ? label(formatEpsilon(epsilon), x(i), SIZE.height - 8) : null)),
  );
}

/** The chart: `element` to place, `draw(state, values, threshold, width)` after changes. */
export function predictionChart() {
  const plot = html("div", { class: "dpx-prediction", role: "img" });
  const about = html("summary");
  const element = html("details", { class: "dpx-details", open: true },
    about, plot);
  const draw = (state, values, threshold, width) => {
    const { payload, stop } = state;
    element.hidden = payload.fits.length < 2 || !hasPrediction(payload);
    if (element.hidden || width < 40) return;
    const byClass = payload.target.by_class;
    const isShare = byClass || payload.link === "logit";
    const limit = threshold ?? (isShare && !byClass ? 0.5 : null);
    const name = byClass ? `Probability of “${quotedName(payload.target.shown_class, 40)}”` : "The prediction";
    const found = predictionsOverEpsilon(state, values);
    const shown = [...(found.some(({ ends }) => ends !== null) ? ["95% intervals"] : []),
      ...(limit === null ? [] : ["threshold"])].join(" and ");
    setText(about, `${name} at every ε${shown && `, with ${shown}`}`);
    plot.setAttribute("aria-label", chartWords(name, found, limit));
    plot.replaceChildren(drawChart(found, { width, font: fontOf(plot), threshold: limit, stop, isShare }));
  };
  return { element, draw };
}
