// Effect of an edit on the distribution of scores, from released histograms alone. Features are
// assumed to be independent, because their histograms do not show dependence.
import { html, svg, setText } from "../../kit/dom.js";
import { formatNumber, formatSigned, formatTick } from "../../kit/format.js";
import { label, rule } from "../../charts/marks.js";
import { linearScale, niceTicks } from "../../charts/scale.js";
import { stepPath } from "../../charts/path.js";

const CELLS = 240;
const SHOWN = 60;

function shares(termFit) {
  const positive = termFit.count.map((each) => Math.max(0, each));
  const sum = positive.reduce((a, b) => a + b, 0);
  return positive.map((each) => (sum > 0 ? each / sum : 1 / positive.length));
}

function momentsOf(terms) {
  return terms.reduce(([mean, variance], { values, weights }) => {
    const middle = values.reduce((sum, value, i) => sum + weights[i] * value, 0);
    const spread = values.reduce((sum, value, i) => sum + weights[i] * (value - middle) ** 2, 0);
    return [mean + middle, variance + spread];
  }, [0, 0]);
}

// Adds one term to a distribution over cells; a value between two cells is split between them.
function withTerm(distribution, { values, weights }, cell) {
  const result = new Float64Array(distribution.length);
  values.forEach((value, b) => {
    if (weights[b] === 0) return;
    const moved = value / cell;
    const [whole, part] = [Math.floor(moved), moved - Math.floor(moved)];
    for (let i = 0; i < distribution.length; i += 1) {
      if (distribution[i] === 0) continue;
      const near = Math.max(0, Math.min(distribution.length - 1, i + whole));
      const next = Math.max(0, Math.min(distribution.length - 1, i + whole + 1));
      result[near] += distribution[i] * weights[b] * (1 - part);
      result[next] += distribution[i] * weights[b] * part;
    }
  });
  return result;
}

function distributionOf(terms, intercept, low, cell) {
  let distribution = new Float64Array(CELLS);
  distribution[Math.max(0, Math.min(CELLS - 1, Math.round((intercept - low) / cell)))] = 1;
  for (const term of terms) distribution = withTerm(distribution, term, cell);
  return distribution;
}

/**
 * The distribution of scores before and after, with means and standard deviations.
 * @param {import("../../types").Fit} fit
 */
export function scoreChange(fit, edited) {
  const before = fit.terms.map((termFit) => ({ values: termFit.contribution, weights: shares(termFit) }));
  const after = before.map((term, i) => (edited[i] ? { ...term, values: edited[i].values } : term));
  const shift = edited.reduce((sum, curve) => sum + (curve?.shift ?? 0), 0);
  const sides = [[before, fit.intercept], [after, fit.intercept + shift]].map(([terms, intercept]) => {
    const [mean, variance] = momentsOf(terms);
    return { terms, intercept, mean: intercept + mean, std: Math.sqrt(variance) };
  });
  const reach = 4 * Math.max(...sides.map((side) => side.std), 1e-6);
  const low = Math.min(...sides.map((side) => side.mean)) - reach;
  const high = Math.max(...sides.map((side) => side.mean)) + reach;
  const cell = (high - low) / CELLS;
  return {
    low, high,
    sides: sides.map((side) => ({
      mean: side.mean,
      std: side.std,
      shares: distributionOf(side.terms, side.intercept, low, cell),
    })),
  };
}

function coarse(distribution) {
  const size = CELLS / SHOWN;
  return Array.from({ length: SHOWN }, (_, i) =>
    distribution.slice(i * size, (i + 1) * size).reduce((a, b) => a + b, 0));
}

/** A panel with the two distributions; `draw(change, unit)` fills it. */
export function scorePanel() {
  const words = html("p", { class: "dpx-note" });
  const picture = html("div", { class: "dpx-edit-scores" });
  const omitted = html("p", { class: "dpx-note", hidden: "" }, "Edits of pairs of features are not included.");
  const element = html("div", {}, html("h4", {}, "Score distribution"), picture, words, omitted);
  const omitPairs = (some) => { omitted.hidden = !some; };
  const draw = (scores, unit, width) => {
    const [before, after] = scores.sides;
    const lines = scores.sides.map((side) => coarse(side.shares));
    const x = linearScale([scores.low, scores.high], [4, width - 4]);
    const y = linearScale([0, Math.max(...lines.flat())], [70, 6]);
    const span = scores.high - scores.low;
    const edges = Array.from({ length: SHOWN + 1 }, (_, i) => scores.low + (span * i) / SHOWN);
    const paths = lines.map((line, i) => svg("path", {
      d: stepPath(edges, line, x, y), class: `dpx-curve ${i === 0 ? "dpx-edit-before" : "dpx-curve-main"}`,
    }));
    const { ticks, step } = niceTicks(scores.low, scores.high, Math.max(2, width / 70));
    const axis = ticks.map((tick) => label(formatTick(tick, step), Math.max(16, Math.min(width - 16, x(tick))), 88));
    picture.replaceChildren(svg("svg", { width, height: 92, class: "dpx-svg", "aria-hidden": "true" },
      ...paths, rule(4, 70.5, width - 4, 70.5, "axis"), ...axis));
    const moved = after.mean - before.mean;
    const change = Math.abs(moved) < 1e-9 ? "unchanged" : formatSigned(moved);
    const means = `${formatNumber(before.mean)} → ${formatNumber(after.mean)} (${change})`;
    const deviations = `${formatNumber(before.std)} → ${formatNumber(after.std)}${unit ? `, in ${unit}` : ""}`;
    setText(words, `Mean score ${means}, standard deviation ${deviations}. From the released histograms, ` +
      "assuming independent features; no privacy cost.");
  };
  return { element, picture, draw, omitPairs };
}
