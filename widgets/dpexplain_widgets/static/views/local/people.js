// Decisions about many samples: how certain each is, and how often other fits decide alike.
import { decisionClaim } from "../claim/claims.js";
import { explainValues, normalCertainty, predictionOf, sampleValues, thresholdScore } from "./contributions.js";

/**
 * @typedef {import("../../types").State} State
 * @typedef {import("../../types").Fit} Fit
 */

const knownScores = new WeakMap();

/** The score of each sample in a fit; kept, because neither changes. */
function scoresOf(fit, people) {
  const known = knownScores.get(fit);
  if (known?.people === people) return known.scores;
  const scores = people.map((values) => explainValues(fit, values).score);
  knownScores.set(fit, { people, scores });
  return scores;
}

const knownPeople = new WeakMap();

/** The values of all samples, in the order of the terms. */
function peopleOf(state) {
  const { payload, samples } = state;
  const known = knownPeople.get(payload);
  if (known?.samples === samples) return known.people;
  const people = samples.rows.map((row) => sampleValues(state, row, {}));
  knownPeople.set(payload, { samples, people });
  return people;
}

/**
 * A decision for each sample at the selected fit. Without known errors, all that depends on them is null; without
 * samples or a threshold, there are no decisions.
 * @param {State} state
 * @param {number | null} threshold
 */
export function decisionsOf(state, threshold) {
  const { payload, samples, fit } = state;
  const at = thresholdScore(payload.link, threshold);
  if (!samples || at === null || state.atReference) return [];
  const people = peopleOf(state);
  const fits = payload.fits.flat();
  const all = fits.map((each) => scoresOf(each, people));
  return scoresOf(fit, people).map((score, place) => {
    const claim = decisionClaim(state, fit, { kind: "decision", bins: [], values: people[place], threshold });
    const gap = score - at;
    const ends = claim === null ? null : [claim.low, claim.high].map((each) => predictionOf(payload.link, each + at));
    return {
      place, name: samples.names[place], gap, prediction: predictionOf(payload.link, score), ends,
      above: gap > 0, holds: claim?.holds ?? null,
      certainty: claim === null ? null : normalCertainty(gap, claim.std),
      rerun: claim === null ? null : normalCertainty(gap, Math.SQRT2 * claim.std),
      ratio: claim === null ? Math.abs(gap) : Math.abs(gap) / claim.std,
      same: all.filter((scores) => scores[place] > at === gap > 0).length, fits: fits.length,
    };
  });
}

/**
 * The prediction for one sample at every epsilon, with the ends of its interval: [{epsilon, stop, prediction, ends}].
 * @param {State} state
 */
export function predictionsOverEpsilon(state, values, threshold) {
  const { payload, repeat } = state;
  const at = thresholdScore(payload.link, threshold ?? null) ?? 0;
  return payload.fits.map((row, stop) => {
    const fit = row[Math.min(repeat, row.length - 1)];
    const ask = { kind: "decision", bins: [], values, threshold };
    const claim = decisionClaim(state, fit, /** @type {import("../../types").Question} */ (ask));
    const prediction = predictionOf(payload.link, explainValues(fit, values).score);
    const ends = claim === null ? null : [claim.low, claim.high].map((each) => predictionOf(payload.link, each + at));
    return { epsilon: payload.epsilons[stop], stop, prediction, ends };
  });
}
