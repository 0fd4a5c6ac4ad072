// Edits in words.
import { formatNumber, formatSigned, plural, quotedName } from "./format.js";
import { stepsOf } from "./edit_operations.js";

const VERBS = {
  set: "set", shift: "shift", scale: "scale", interpolate: "interpolate", smooth: "smooth",
  flatten: "flatten inside the noise band", denoise: "denoise", stretch: "stretch",
  recover: "recover",
  merge: "merge", remove: "remove", revert: "revert",
};

function stepWords(step) {
  const verb = {
    monotone: () => `make ${step.direction}`,
    convex: () => `make ${step.bend}`,
    align: () => `align ${step.to}`,
  }[step.operation]?.() ?? VERBS[step.operation] ?? step.operation;
  const where = step.within
    ? ` between ${formatNumber(step.within[0])} and ${formatNumber(step.within[1])}`
    : step.names ? ` for ${step.names.slice(0, 4).map((name) => quotedName(name, 30)).join(", ")}` : "";
  const how = {
    set: () => (Array.isArray(step.value) ? " to drawn values" : ` to ${formatNumber(step.value)}`),
    shift: () => ` by ${formatSigned(step.by)}`,
    scale: () => ` by ${formatNumber(step.factor)}`,
  }[step.operation]?.() ?? "";
  return `${verb}: ${quotedName(step.term, 40)}${where}${how}`;
}

/** An operation in words. */
export function operationWords(operation) {
  return operation.title || stepsOf(operation).map(stepWords).join("; ");
}

/** What an edit does, in words. */
export function effectWords(effect) {
  if (effect.bins === 0) return "changes nothing";
  const parts = [
    `changes ${plural(effect.bins, "bin")} by ${formatNumber(effect.rms)} (root mean square) for ` +
      `${Math.round(100 * effect.share)} % of the people (noisy count)`,
    bandWords(effect),
  ];
  if (Math.abs(effect.mean) > 1e-9) parts.push(`moves the mean by ${formatSigned(effect.mean)}`);
  if (effect.intercept) parts.push(`moves the intercept by ${formatSigned(effect.intercept)}`);
  return parts.join(", ");
}

/** Whether a curve stays inside the noise band. */
export function bandWords({ outside }) {
  if (outside === null) return "noise band not known";
  return outside === 0 ? "stays inside the noise band" : `leaves the noise band in ${plural(outside, "bin")}`;
}
