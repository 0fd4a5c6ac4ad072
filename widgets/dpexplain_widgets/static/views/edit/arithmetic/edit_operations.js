// Operations on a term of a fit, for previews: the page's version of dpexplain/edit.
import {
  convexCurve, interpolateCurve, monotoneCurve, smoothCurve, weightedMean, withMeanOf,
} from "./edit_kernels.js";
import { smoothAsNoiseAllows } from "./edit_splines.js";

/** Operations that set values, and thus change the mean. */
const CHANGES_MEAN = ["set", "shift", "interpolate", "align", "remove", "revert"];
const NEEDS_ORDER = ["interpolate", "smooth", "recover", "monotone", "convex"];
const RECOVERED_WITHIN = 1.5;
const WHOLE_TERM = ["remove", "revert"];
const LEAST_BINS = { interpolate: 3, smooth: 2, merge: 2 };

function sharesOfPeople(count) {
  const positive = count.map((each) => Math.max(0, each));
  const sum = positive.reduce((a, b) => a + b, 0);
  return positive.map((each) => (sum > 0 ? each / sum : 1 / count.length));
}

/**
 * A term of a fit during edits.
 * @param {import("../../../types").TermFit} termFit
 */
export function startCurve(term, termFit, denoised = null) {
  const valueBins = termFit.labels.length - termFit.special.length;
  const { edges } = termFit;
  const places = Array.from({ length: valueBins }, (_, i) => (edges ? (edges[i] + edges[i + 1]) / 2 : i));
  return {
    name: term.name,
    isDate: term.is_date,
    ordered: term.kind === "numeric" || Boolean(term.ordered),
    termFit,
    denoised,
    valueBins,
    places,
    weights: sharesOfPeople(termFit.count),
    values: termFit.contribution.slice(),
    said: termFit.contribution.slice(),
    shift: 0,
  };
}

function namedBins(curve, names) {
  return names.map((name) => {
    const bin = curve.termFit.labels.indexOf(name);
    if (bin < 0) throw new Error(`This curve has no bin “${name}”.`);
    return bin;
  }).sort((a, b) => a - b);
}

/** The bins an operation applies to. */
function binsOf(curve, step) {
  const all = (count) => Array.from({ length: count }, (_, i) => i);
  if (WHOLE_TERM.includes(step.operation)) return all(curve.values.length);
  if (step.bins) {
    if (step.bins.some((bin) => bin >= curve.values.length)) throw new Error("This curve has fewer bins.");
    return [...step.bins].sort((a, b) => a - b);
  }
  if (step.names) return namedBins(curve, step.names);
  if (!step.within) return all(curve.valueBins);
  const [low, high] = step.within;
  const { edges } = curve.termFit;
  if (!edges) throw new Error("Select categories by name.");
  const slack = 1e-9 * Math.max(Math.abs(low), Math.abs(high), 1e-300);
  const inside = all(curve.valueBins).filter((i) => edges[i] >= low - slack && edges[i + 1] <= high + slack);
  if (inside.length === 0) throw new Error("No bin lies between these values at this ε.");
  return inside;
}

function noiseOf(curve, bins) {
  const std = curve.termFit.total_std;
  return std ? bins.map((bin) => std[bin]) : null;
}

function spreadOfCounts(weights) {
  const least = 1e-3 * Math.max(...weights, 1e-300);
  return weights.map((weight) => 1 / Math.sqrt(Math.max(weight, least)));
}

function stretched(curve, values, weights) {
  const factor = curve.termFit.stretch;
  if (typeof factor !== "number") throw new Error("The shrinkage of this curve is unknown.");
  const level = weightedMean(values, weights);
  return values.map((value) => level + factor * (value - level));
}

const WANTED = {
  set(step, { values }) {
    if (!Array.isArray(step.value)) return values.map(() => step.value);
    if (step.value.length !== values.length) throw new Error("This curve was drawn for different bins.");
    return step.value.slice();
  },
  shift: (step, { values }) => values.map((value) => value + step.by),
  scale: (step, { values }) => values.map((value) => value * step.factor),
  interpolate(step, { values, places, bins }) {
    const kept = (step.keep ?? []).map((bin) => bins.indexOf(bin));
    if (kept.includes(-1)) throw new Error("A kept bin is not among the selected ones.");
    return interpolateCurve(places, values, kept);
  },
  align(step, { values, weights }) {
    const level = { left: values[0], right: values.at(-1), average: weightedMean(values, weights) };
    return values.map(() => level[step.to]);
  },
  smooth(step, { values, weights, std, places }) {
    if (step.reach !== undefined && step.reach !== null) {
      return smoothCurve(values, weights, std ?? spreadOfCounts(weights), step.reach);
    }
    if (std === null) throw new Error("The noise of this curve is unknown; use smoothing with a reach.");
    return smoothAsNoiseAllows(places, values, weights, std);
  },
  flatten(step, { values, weights, std, curve }) {
    if (std === null) throw new Error("The noise band of this curve is not known.");
    const inside = values.map((value, i) => Math.abs(value) <= curve.termFit.band_factor * std[i]);
    const of = (each) => each.filter((_, i) => inside[i]);
    if (!inside.includes(true)) return values.slice();
    const level = weightedMean(of(values), of(weights));
    return values.map((value, i) => (inside[i] ? level : value));
  },
  denoise(step, { bins, curve }) {
    if (curve.denoised === null) throw new Error("Denoising needs a Python kernel.");
    return bins.map((bin) => curve.denoised[bin]);
  },
  stretch: (step, { values, weights, curve }) => stretched(curve, values, weights),
  recover(step, { weights, bins, curve, std }) {
    const { recovered, contribution } = curve.termFit;
    if (!recovered || std === null) throw new Error("The released sums of this curve are unknown; smooth it instead.");
    const said = stretched(curve, bins.map((bin) => contribution[bin]), weights);
    return bins.map((bin, i) => {
      const reach = RECOVERED_WITHIN * std[i];
      return Math.max(said[i] - reach, Math.min(said[i] + reach, recovered[bin]));
    });
  },
  monotone: (step, { values, weights }) =>
    monotoneCurve(values, weights, step.direction === "increasing" ? 1 : -1),
  convex: (step, { values, weights, places }) =>
    convexCurve(places, values, weights, step.bend === "convex" ? 1 : -1),
  merge: (step, { values, weights }) => values.map(() => weightedMean(values, weights)),
  remove: (step, { values }) => values.map(() => 0),
};

function checkBins(step, curve, bins) {
  if (NEEDS_ORDER.includes(step.operation)) {
    if (!curve.ordered) throw new Error("This needs ordered bins, and these categories are unordered.");
    if (bins.at(-1) >= curve.valueBins) throw new Error("Special bins (missing, other) are unordered.");
  }
  const least = LEAST_BINS[step.operation] ?? 1;
  if (bins.length < least) throw new Error(`Select at least ${least} bins.`);
}

/** The curve after a single operation; throws a readable Error if it does not apply. */
function afterStep(curve, step) {
  if (step.operation === "revert") {
    const released = curve.termFit.contribution;
    return { ...curve, values: released.slice(), said: released.slice(), shift: 0 };
  }
  const bins = binsOf(curve, step);
  checkBins(step, curve, bins);
  const pick = (values) => bins.map((bin) => values[bin]);
  const [before, weights] = [pick(curve.values), pick(curve.weights)];
  const places = bins.map((bin) => curve.places[bin]);
  const wantedOf = (values) =>
    WANTED[step.operation](step, { values, weights, places, bins, curve, std: noiseOf(curve, bins) });
  let wanted = wantedOf(before);
  const mean = step.mean ?? (CHANGES_MEAN.includes(step.operation) ? "change" : "keep");
  let shift = curve.shift;
  if (mean === "keep") wanted = withMeanOf(before, wanted, weights);
  if (mean === "intercept") shift -= wanted.reduce((sum, value, i) => sum + weights[i] * (value - before[i]), 0);
  if (!wanted.every(Number.isFinite)) throw new Error("The contributions would not be finite numbers.");
  const put = (values, news) => {
    const copy = values.slice();
    bins.forEach((bin, i) => {
      copy[bin] = news[i];
    });
    return copy;
  };
  const said = {
    stretch: () => put(curve.said, withMeanOf(pick(curve.said), wantedOf(pick(curve.said)), weights)),
    recover: () => put(curve.said, stretched(curve, pick(curve.termFit.contribution), weights)),
  }[step.operation]?.() ?? curve.said;
  return { ...curve, values: put(curve.values, wanted), said, shift };
}

/** The single operations of an entry. */
export function stepsOf(operation) {
  return operation.operation === "composed" ? operation.steps : [operation];
}

/** The curve after the operations on its term. */
export function afterOperations(curve, operations) {
  const steps = operations.flatMap(stepsOf).filter((step) => step.term === curve.name);
  return steps.reduce(afterStep, curve);
}

/** The effect of a change from one state of a curve to another. */
export function effectOf(before, after) {
  const change = after.values.map((value, i) => value - before.values[i]);
  const changed = change.map((step) => step !== 0);
  const { total_std: std, band_factor: factor } = after.termFit;
  const sum = (of) => change.reduce((all, step, i) => all + of(step, i), 0);
  return {
    bins: changed.filter(Boolean).length,
    rms: Math.sqrt(sum((step, i) => after.weights[i] * step * step)),
    share: Math.min(1, sum((step, i) => (changed[i] ? after.weights[i] : 0))),
    outside: std
      ? after.values.filter((value, i) => Math.abs(value - after.said[i]) > factor * std[i]).length
      : null,
    mean: sum((step, i) => after.weights[i] * step),
    intercept: after.shift - before.shift,
  };
}
