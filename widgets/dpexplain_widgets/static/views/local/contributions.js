// Contributions to the score of a sample, from released curves, at no privacy cost.
import { binOfValue, typicalBin } from "../disagreement/distance.js";

/** Index of a special bin by its name, which is in brackets if a category has the same name. */
function specialBin(termFit, name) {
  const place = termFit.special.findIndex((each) => each === name || each === `(${name})`);
  return place < 0 ? null : termFit.labels.length - termFit.special.length + place;
}

/** @param {import("../../types").PairAxis[]} axes */
function cellOf(axes, values) {
  const [row, column] = axes.map((axis, k) => binOf(axis, values[k]));
  return row === null || column === null ? null : row * axes[1].labels.length + column;
}

/**
 * The bin of a value of a term: a number, a category or null (missing), or two of these for a pair
 * of features; null if none.
 * @param {import("../../types").TermFit | import("../../types").PairAxis} termFit
 */
export function binOf(termFit, value) {
  if (termFit.axes) return cellOf(termFit.axes, value);
  if (value === null || value === undefined) return specialBin(termFit, "missing");
  if (termFit.edges !== null) return binOfValue(termFit.edges, value);
  const place = termFit.labels.slice(0, termFit.labels.length - termFit.special.length).indexOf(value);
  return place < 0 ? specialBin(termFit, "other") : place;
}

/** Smallest and largest value of a numeric term: multiples of its step inside the public range. */
export function valueRange({ step }, { edges }) {
  const [low, high] = [edges[0], edges.at(-1)];
  if (!step) return [low, high];
  const [first, last] = [Math.ceil(low / step - 1e-9) * step, Math.floor(high / step + 1e-9) * step];
  return first <= last ? [first, last].map((value) => Number(value.toPrecision(12))) : [low, high];
}

// The fewest decimals that stay in the middle half of the bin; for a bin too narrow for six decimals, its start.
function roundedMiddle(low, high) {
  const middle = (low + high) / 2;
  for (let scale = 1; scale <= 1e6; scale *= 10) {
    const rounded = Math.floor(middle * scale + 0.5) / scale;
    if (Math.abs(rounded - middle) <= (high - low) / 4) return rounded;
  }
  return low;
}

/**
 * A value near the middle of the bin of a typical record.
 * @param {import("../../types").TermFit} termFit
 */
export function typicalValue(termFit, step) {
  const bin = typicalBin(termFit);
  if (termFit.edges === null) return termFit.labels[bin];
  const [low, high] = [termFit.edges[bin], termFit.edges[bin + 1]];
  if (!step) return roundedMiddle(low, high);
  const middle = (low + high) / 2;
  const onStep = Number((Math.round(middle / step) * step).toPrecision(12));
  return onStep >= low && onStep < high ? onStep : middle;
}

// Values of two features: those of their own terms if present, else those of the sample.
/** @param {import("../../types").PairAxis[]} axes */
function pairValues(axes, values, row) {
  return axes.map((axis, k) => {
    if (values.has(axis.name)) return values.get(axis.name);
    if (row !== null) return row[k];
    return axis.edges === null ? axis.labels[0] : axis.edges[0];
  });
}

/**
 * Values of each term for a sample, or for typical values without one, with those in `invented` replaced.
 * @param {import("../../types").State} state
 */
export function sampleValues(state, row, invented) {
  const ruling = state.payload.fits.at(-1)?.[0] ?? state.fit;
  const values = new Map();
  const valueOf = (term, i) => {
    if (Object.hasOwn(invented, term.name)) return invented[term.name];
    if (term.kind === "pair") return pairValues(ruling.terms[i].axes, values, row === null ? null : row[i]);
    return row === null ? typicalValue(ruling.terms[i], term.step) : row[i];
  };
  state.payload.terms.forEach((term, i) => values.set(term.name, valueOf(term, i)));
  return Array.from(values.values());
}

/**
 * Values of each term for the sample shown, with what-if values replacing its own.
 * @param {import("../../types").Model} model
 * @param {import("../../types").State} state
 */
export function shownValues(model, state, invented = model.get("what_if") ?? {}) {
  return sampleValues(state, state.samples?.rows[model.get("sample")] ?? null, invented);
}

/**
 * Contributions of one fit: [{bin, value, std}] and their `score`, `scoreStd` (null if unknown).
 * @param {import("../../types").Fit} fit
 */
export function explainValues(fit, values) {
  const parts = fit.terms.map((termFit, i) => {
    const bin = binOf(termFit, values[i]);
    if (bin === null) return { bin, value: 0, std: 0, label: "no bin" };
    return {
      bin, value: termFit.contribution[bin], std: termFit.total_std?.[bin] ?? null,
      label: termFit.labels[bin],
    };
  });
  const score = parts.reduce((sum, part) => sum + part.value, fit.intercept);
  const known = parts.every((part) => part.std !== null);
  const squares = parts.reduce((sum, part) => sum + (part.std ?? 0) ** 2, (fit.intercept_std ?? 0) ** 2);
  return { parts, score, scoreStd: known ? Math.sqrt(squares) : null };
}

/** Probability that a normal estimate has the right sign, from its size and standard deviation. */
export function normalCertainty(size, std) {
  if (std === null) return null;
  if (std === 0) return size === 0 ? 0.5 : 1;
  const z = Math.abs(size) / std;
  if (z > 8.5) return 1;
  // Marsaglia, "Evaluating the Normal Distribution", Journal of Statistical Software 11 (2004).
  let [sum, term] = [z, z];
  for (let k = 3; sum + term !== sum; k += 2) {
    term *= (z * z) / k;
    sum += term;
  }
  return Math.min(1, 0.5 + (sum * Math.exp(-0.5 * z * z)) / Math.sqrt(2 * Math.PI));
}

/** The prediction for a score; null if it depends on other classes too. */
export function predictionOf(link, score) {
  if (link === "logit") return 1 / (1 + Math.exp(-score));
  if (link === "log") return Math.exp(Math.min(score, 700));
  return link === "identity" ? score : null;
}

/** The score for a threshold on the prediction; null if there is none. */
export function thresholdScore(link, threshold) {
  if (link === "logit") return Math.log((threshold ?? 0.5) / (1 - (threshold ?? 0.5)));
  if (threshold === null || threshold === undefined) return null;
  if (link === "log") return Math.log(threshold);
  return link === "identity" ? threshold : null;
}

/** Signs with at least this probability count as certain. */
const CERTAIN = 0.975;

/** "certain" or "uncertain" for the sign of a contribution; null if unknown. */
export function signWord(part) {
  const certainty = normalCertainty(part.value, part.std);
  if (certainty === null || part.value === 0) return null;
  return certainty >= CERTAIN ? "certain" : "uncertain";
}

/** Whether two contributions point in opposite directions. */
export function flips(part, other) {
  return other !== undefined && part.value * other.value < 0;
}
