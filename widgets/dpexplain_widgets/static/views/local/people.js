// Decisions about many samples: how certain each is, and how often other fits decide alike.
import { closestLead, decisionClaim, leadClaims, likeliest, scoreClaim } from "../claim/claims.js";
import { chanceOf, fitsOfClasses } from "./class_probabilities.js";
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

/** Whether a payload suffices for predictions: not if it has one of several classes alone. */
export function hasPrediction({ link, target }) {
  return link !== "softmax" || Boolean(target.by_class);
}

/** The class that a fit predicts for each sample. */
function classesOf(state, fit, people) {
  const scores = fitsOfClasses(state, fit).map((each) => scoresOf(each, people));
  return people.map((_, i) => likeliest(scores.map((each) => each[i])));
}

/** Probability of the class that leads by these amounts. */
function leadingChance(leads) {
  return 1 / leads.reduce((sum, lead) => sum + Math.exp(-lead), 1);
}

/** The probability of a class and the ends of its interval, from its leads over the others. */
function chanceBetween(leads) {
  const [prediction, ...ends] = ["estimate", "low", "high"].map((end) => leadingChance(leads.map((each) => each[end])));
  return { prediction, ends };
}

// The probability that no other class is ahead is at least 1 minus the sum of theirs.
function leadCertainty(leads, spread) {
  const ahead = leads.reduce((sum, { estimate, std }) => sum + 1 - normalCertainty(estimate, spread * std), 0);
  return Math.max(0, 1 - ahead);
}

/** The decision about one of several classes, in the form of `thresholdDecision`. */
function classDecision(state, fit, values) {
  const leads = leadClaims(state, fit, values);
  const scores = () => fitsOfClasses(state, fit).map((each) => explainValues(each, values).score);
  const side = leads === null ? likeliest(scores()) : leads[0].first;
  const decision = state.models[side].name;
  if (leads === null) {
    const prediction = chanceOf({ ...state, payload: state.models[side] }, fit, values);
    return { side, decision, order: side, prediction, ends: null, holds: null, certainty: null, rerun: null, ratio: 0 };
  }
  return {
    side, decision, order: side, ...chanceBetween(leads), holds: closestLead(leads).holds,
    certainty: leadCertainty(leads, 1), rerun: leadCertainty(leads, Math.SQRT2),
    ratio: Math.min(...leads.map(({ estimate, std }) => estimate / std)),
  };
}

/** The decision about one threshold; without known errors, all that depends on them is null. */
function thresholdDecision(state, fit, values, threshold) {
  const { link } = state.payload;
  const at = thresholdScore(link, threshold);
  const claim = decisionClaim(state, fit, { kind: "decision", bins: [], values, threshold });
  const { score } = explainValues(fit, values);
  const gap = score - at;
  const side = gap > 0;
  const given = { side, decision: side ? "above" : "below", order: gap, prediction: predictionOf(link, score) };
  if (claim === null) return { ...given, ends: null, holds: null, certainty: null, rerun: null, ratio: Math.abs(gap) };
  return {
    ...given, ends: [claim.low, claim.high].map((each) => predictionOf(link, each + at)), holds: claim.holds,
    certainty: normalCertainty(gap, claim.std), rerun: normalCertainty(gap, Math.SQRT2 * claim.std),
    ratio: Math.abs(gap) / claim.std,
  };
}

/**
 * A decision for each sample at the selected fit: its side of the threshold or, with several classes, the predicted
 * class. Without samples, or without a threshold for two classes, there are no decisions.
 * @param {State} state
 * @param {number | null} threshold
 */
export function decisionsOf(state, threshold) {
  const { payload, samples, fit } = state;
  const byClass = payload.target.by_class;
  const at = thresholdScore(payload.link, threshold);
  if (!samples || (at === null && !byClass) || state.atReference) return [];
  const people = peopleOf(state);
  const fits = payload.fits.flat();
  const all = fits.map((each) =>
    (byClass ? classesOf(state, each, people) : scoresOf(each, people).map((score) => score > at)));
  return people.map((values, place) => {
    const made = byClass ? classDecision(state, fit, values) : thresholdDecision(state, fit, values, threshold);
    const same = all.filter((sides) => sides[place] === made.side).length;
    return { place, name: samples.names[place], ...made, same, fits: fits.length };
  });
}

/**
 * The prediction for one sample at every epsilon, with the ends of its interval: [{epsilon, stop, prediction, ends}].
 * With several classes, it is the probability of the class shown.
 * @param {State} state
 */
export function predictionsOverEpsilon(state, values) {
  const { payload, repeat } = state;
  const ofClass = (fit) => {
    const leads = leadClaims(state, fit, values, state.models.indexOf(payload));
    return leads === null ? { prediction: chanceOf(state, fit, values), ends: null } : chanceBetween(leads);
  };
  const ofScore = (fit) => {
    const claim = scoreClaim(fit, values);
    const prediction = predictionOf(payload.link, explainValues(fit, values).score);
    const ends = claim === null ? null : [claim.low, claim.high].map((each) => predictionOf(payload.link, each));
    return { prediction, ends };
  };
  return payload.fits.map((row, stop) => {
    const fit = row[Math.min(repeat, row.length - 1)];
    return { epsilon: payload.epsilons[stop], stop, ...(payload.target.by_class ? ofClass : ofScore)(fit) };
  });
}
