// Probabilities of the classes of one model, from the scores of all of them.
import { explainValues } from "./contributions.js";
import { formatNumber, quotedName } from "../../kit/format.js";

const MOST_CLASSES = 8;

/**
 * The fits of all classes that belong to the fit of one class; null for other models.
 * @param {import("../../types").State} state
 * @param {import("../../types").Fit} fit
 */
export function fitsOfClasses(state, fit) {
  const { models, payload, editedOf } = state;
  if (!payload.target.by_class) return null;
  if (editedOf && fit === state.fit) return models.map((each) => editedOf(each, each.fits[state.stop][state.repeat]));
  const home = models.find((each) => each.reference === fit || each.fits.some((row) => row.includes(fit)));
  if (home.reference === fit) return models.map(({ reference }) => reference);
  const stop = home.fits.findIndex((row) => row.includes(fit));
  const repeat = home.fits[stop].indexOf(fit);
  return models.map(({ fits }) => fits[stop][repeat]);
}

/**
 * Probabilities of all classes of one model for a sample, in order; null for other models.
 * @param {import("../../types").State} state
 * @param {import("../../types").Fit} fit
 */
function classProbabilities(state, fit, values) {
  const scores = fitsOfClasses(state, fit)?.map((each) => explainValues(each, values).score);
  if (!scores) return null;
  const largest = Math.max(...scores);
  const sizes = scores.map((score) => Math.exp(score - largest));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  return sizes.map((size) => size / total);
}

/** Probability of the class shown by one of several classes; null for other models. */
export function chanceOf(state, fit, values) {
  const place = state.models.indexOf(state.payload);
  return classProbabilities(state, fit, values)?.[place] ?? null;
}

/** The predicted class and the probabilities of the others, most likely first; "" for other models. */
export function classWords(state, values) {
  const chances = classProbabilities(state, state.fit, values);
  if (chances === null) return "";
  const order = chances.map((_, k) => k).sort((a, b) => chances[b] - chances[a]);
  const [first, ...others] = order.slice(0, MOST_CLASSES).map((k) =>
    [`“${quotedName(state.models[k].name, 24)}”`, formatNumber(chances[k])]);
  const more = order.length > MOST_CLASSES ? `, and ${order.length - MOST_CLASSES} less likely classes` : "";
  return `Predicted ${first[0]} (${first[1]}); ${others.map((each) => each.join(" ")).join(", ")}${more}.`;
}
