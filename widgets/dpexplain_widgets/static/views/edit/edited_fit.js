// A fit as it is after the edits, for all views.
import { logOf, operationsOf } from "./edit_log.js";
import { offerEdited } from "../../state/state.js";
import { afterOperations, startCurve, stepsOf } from "./arithmetic/edit_operations.js";

/** What is known of a released curve only: its noise, and what follows from it. */
const OF_RELEASED = {
  noise_std: null, structure_std: null, sampling_std: null, total_std: null, signal: null, bag_std: null,
  effect: null, effect_std: null, effect_signal: null, effect_size: null, effect_size_std: null, has_effect: null,
  effect_remark: null, effect_warns: null, noise_floor: null, above_noise: null, ranks: null, directions: null,
  claims: null,
};

const knownEdits = new WeakMap();

function editedTerm(term, termFit, operations, denoised) {
  const touched = operations.flatMap(stepsOf).some((step) => step.term === term.name);
  if (!touched || termFit.axes || termFit.absent) return { termFit, shift: 0 };
  const start = startCurve(term, termFit, Array.isArray(denoised) ? denoised : null);
  const { values, shift, weights } = afterOperations(start, operations);
  const importance = values.reduce((sum, value, i) => sum + weights[i] * Math.abs(value), 0);
  return { termFit: { ...termFit, ...OF_RELEASED, contribution: values, importance, edited: true }, shift };
}

/**
 * The selected fit with its edits; the fit itself if there are none, or if one needs a kernel.
 * @param {import("../../types").Model} model
 * @param {import("../../types").State} state
 */
function editedFit(model, { payload, fit, stop, repeat }) {
  const operations = operationsOf(logOf(model));
  if (operations.length === 0) return fit;
  const denoised = model.get("denoised") ?? {};
  const key = JSON.stringify([operations, denoised]);
  if (knownEdits.get(fit)?.key === key) return knownEdits.get(fit).edited;
  let edited = fit;
  try {
    const made = payload.terms.map((term, i) =>
      editedTerm(term, fit.terms[i], operations, denoised[[payload.name, stop, repeat, term.name].join("/")]));
    const shift = made.reduce((sum, each) => sum + each.shift, 0);
    edited = { ...fit, terms: made.map((each) => each.termFit), intercept: fit.intercept + shift, claims: null };
  } catch {
    // An operation that does not fit this curve changes nothing; the edit view says why.
  }
  knownEdits.set(fit, { key, edited });
  return edited;
}

offerEdited(editedFit);
