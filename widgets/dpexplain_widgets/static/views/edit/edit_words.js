// Descriptions of edits.
import { formatNumber, formatSigned, plural, quotedName, shortName } from "../../kit/format.js";
import { pathTo } from "./edit_log.js";
import { afterOperations, effectOf, stepsOf } from "./arithmetic/edit_operations.js";

const VERBS = {
  set: "set", shift: "shift", scale: "scale", interpolate: "interpolate", smooth: "smooth",
  flatten: "flatten inside the noise band", denoise: "denoise", stretch: "stretch",
  recover: "recover",
  merge: "merge", remove: "remove", revert: "revert",
};

// The chosen cells of a pair: two numbers or some labels for each feature.
function whereWords(where) {
  const sides = Object.entries(where).map(([feature, chosen]) => {
    const numbers = typeof chosen[0] === "number";
    const words = numbers ? `between ${formatNumber(chosen[0])} and ${formatNumber(chosen[1])}`
      : chosen.slice(0, 4).map((name) => quotedName(name, 30)).join(", ");
    return `${quotedName(feature, 40)} ${words}`;
  });
  return ` for ${sides.join(" and ")}`;
}

function stepWords(step) {
  const verb = {
    monotone: () => `make ${step.direction}`,
    convex: () => `make ${step.bend}`,
    align: () => `align ${step.to}`,
  }[step.operation]?.() ?? VERBS[step.operation] ?? step.operation;
  const named = (names) => names.slice(0, 4).map((name) => quotedName(name, 30)).join(", ");
  const where = step.where ? whereWords(step.where) : step.within
    ? ` between ${formatNumber(step.within[0])} and ${formatNumber(step.within[1])}`
    : step.names ? ` for ${named(step.names)}` : step.bins ? ` in ${plural(step.bins.length, "bin")}` : "";
  const how = {
    set: () => (Array.isArray(step.value) ? " to drawn values" : ` to ${formatNumber(step.value)}`),
    shift: () => ` by ${formatSigned(step.by)}`,
    scale: () => ` by ${formatNumber(step.factor)}`,
    smooth: () => (step.reach === undefined ? " as noise allows" : ` with reach ${formatNumber(step.reach)}`),
    interpolate: () => (step.keep?.length ? `, through ${plural(step.keep.length, "chosen point")}` : ""),
  }[step.operation]?.() ?? "";
  const along = step.along ? ` along ${quotedName(step.along, 40)}` : "";
  return `${verb}: ${quotedName(step.term, 40)}${where}${along}${how}`;
}

/** An operation in words. */
export function operationWords(operation) {
  return operation.title || stepsOf(operation).map(stepWords).join("; ");
}

const FEATURE_BY_FEATURE = "may overcorrect correlated features: shrinkage is estimated feature by feature, and a " +
  "curve may carry part of the effect of another, especially in a short fit, so the result can move away from the " +
  "truth";

/** Warnings about kinds of operations and a broken constraint, in the same words as in Python. */
export function cautionWords(operations, monotone, curve) {
  const asked = operations.flatMap(stepsOf).some((step) => ["stretch", "recover"].includes(step.operation));
  const up = monotone === "increasing" ? 1 : -1;
  const values = curve.values.slice(0, curve.valueBins);
  const broken = monotone && values.some((value, i) => i > 0 && up * (value - values[i - 1]) < 0);
  const ends = up > 0 ? "increases" : "decreases";
  const words = `the curve no longer ${ends} everywhere, as the fit constrained it to`;
  return [asked ? FEATURE_BY_FEATURE : "", broken ? words : ""].filter(Boolean).join("; ");
}

/** Start of a pair of features, whose edits have their effect in Python only. */
export const PAIR = "pair";

/** Effects of the edits of the current state, by index in the log. */
export function trailWords(log, startOf) {
  const curves = new Map();
  return new Map(pathTo(log).map((place) => {
    const { operation } = log.entries[place];
    const names = [...new Set(stepsOf(operation).map((step) => step.term))];
    const found = names.map((name) => {
      const before = curves.get(name) ?? startOf(name);
      if (!before) return `this model has no ${quotedName(name, 40)}`;
      if (before === PAIR) return "edits a pair of features; view.edited shows its effect";
      try {
        const after = afterOperations(before, [operation]);
        curves.set(name, after);
        return effectWords(effectOf(before, after));
      } catch (error) {
        return `does not apply here: ${error.message}`;
      }
    });
    return [place, `${found.join("; ")}; adds epsilon 0`];
  }));
}

/** The effect of an edit, in words. */
export function effectWords(effect) {
  if (effect.bins === 0) return "changes nothing";
  const parts = [
    `changes ${plural(effect.bins, "bin")} by ${formatNumber(effect.rms)} (root mean square) for ` +
      `${Math.round(100 * effect.share)}% of the records (noisy count)`,
    bandWords(effect),
  ];
  if (Math.abs(effect.mean) > 1e-9) parts.push(`moves the mean by ${formatSigned(effect.mean)}`);
  if (effect.intercept) parts.push(`moves the intercept by ${formatSigned(effect.intercept)}`);
  return parts.join(", ");
}

/** Whether a curve stays inside the noise band. */
export function bandWords({ outside }) {
  if (outside === null) return "noise band unknown";
  return outside === 0 ? "stays inside the noise band" : `leaves the noise band in ${plural(outside, "bin")}`;
}

/** The horizontal axis: the feature, its unit, and what the gray bars are. */
export function axisWords({ term, fit }) {
  const unit = term.unit ? ` (${shortName(term.unit, 24)})` : "";
  return `${shortName(term.name, 80)}${unit}; gray: ${fit.guarantee.private ? "noisy counts" : "counts"}`;
}
