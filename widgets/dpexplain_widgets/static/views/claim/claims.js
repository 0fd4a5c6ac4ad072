// Claims: the answer to a question, with the joint errors of all its parts.
import { fitsOfClasses } from "../local/class_probabilities.js";
import { explainValues, thresholdScore } from "../local/contributions.js";
import {
  FIRST_LETTER, claimBetween, contrastClaim, dot, matchedBin, matchedSpan, sidesOf, spansIn, valueCount,
} from "./contrasts.js";
import { typicalBin } from "../disagreement/distance.js";
import { extremeClaim, isExtreme, likelyExtreme } from "./extremes.js";
import { pairAskedElsewhere, pairClaim } from "./pair_claims.js";
import { chosenBin, chosenRange, secondSpan } from "../../state/state.js";

/**
 * @typedef {import("../../types").State} State
 * @typedef {import("../../types").Fit} Fit
 * @typedef {import("../../types").TermFit} TermFit
 * @typedef {import("../../types").PairAxis} PairAxis
 * @typedef {import("../../types").Question} Question
 * @typedef {import("../../types").Claim} Claim
 */

const CORRELATION_STEPS = 90;

/**
 * The question about a term: its selected range or bin, alone or against a second one, or else its rank. If an extreme
 * is asked for, whether it is in the selected range or bin, or else in the bin where it seems to be.
 * @param {State} state
 * @param {TermFit} termFit
 * @returns {Question}
 */
export function askedAbout(state, termFit) {
  const count = termFit.labels.length;
  const range = chosenRange(state, valueCount(termFit));
  if (state.extreme !== "") {
    const bin = range === null ? chosenBin(state, valueCount(termFit)) ?? likelyExtreme(termFit, state.extreme) : null;
    return { kind: state.extreme, bins: range ?? (bin === null ? [] : [bin]) };
  }
  const one = chosenBin(state, count);
  if (range === null && one === null) return { kind: "rank", bins: [] };
  const first = range ?? [one, one];
  const second = secondSpan(state, count, valueCount(termFit));
  if (second === null || String(second) === String(first)) {
    return range === null ? { kind: "sign", bins: [one] } : { kind: "range", bins: range };
  }
  return askedBetween(first, second);
}

/**
 * Whether two spans differ; two bins have a claim of their own kind.
 * @returns {Question}
 */
function askedBetween(first, second) {
  const areBins = first[0] === first[1] && second[0] === second[1];
  if (areBins) return { kind: "difference", bins: [first[0], second[0]] };
  return { kind: "ranges", bins: [...first, ...second] };
}

/** @returns {Claim | null} */
function rankClaim(fit, termFit) {
  if (!termFit.ranks) return null;
  const effect = typeof termFit.effect_size === "number";
  const sizeOf = (each) => (effect ? each.effect_size : each.importance);
  const larger = fit.terms.filter((each) => !each.axes && sizeOf(each) > sizeOf(termFit)).length;
  const [low, high] = termFit.ranks;
  const holds = low === high && low === larger + 1;
  return { estimate: larger + 1, std: NaN, low, high, holds, basis: effect ? "effect" : "noise" };
}

// The correlation of two terms is at most the largest correlation of any of their bins.
function scoreError(stds, together) {
  let variance = stds.reduce((sum, std) => sum + std * std, 0);
  let place = 0;
  for (let i = 0; i < stds.length; i += 1) {
    for (let j = i + 1; j < stds.length; j += 1) {
      const steps = together === null ? CORRELATION_STEPS : together.charCodeAt(place) - FIRST_LETTER;
      variance += (2 * stds[i] * stds[j] * steps) / CORRELATION_STEPS;
      place += 1;
    }
  }
  return Math.sqrt(variance);
}

/** The score of some values, and an upper bound of its error. */
function scoreOf(fit, values) {
  const { parts, score } = explainValues(fit, values);
  const stdsOf = (ofPairs) => parts.filter((_, i) => Boolean(fit.terms[i].axes) === ofPairs).map(({ std }) => std);
  const std = scoreError([...stdsOf(false), fit.intercept_std], fit.claims.together);
  // The correlation of errors of pairs and curves is not stored, so their errors are added in full.
  return { score, std: stdsOf(true).reduce((sum, each) => sum + each, std) };
}

/** Index of the largest score. */
export function likeliest(scores) {
  return scores.indexOf(Math.max(...scores));
}

/**
 * Claims that a class leads each other class, by default the predicted class; null if the errors are unknown. How the
 * errors of two classes are correlated is not stored, so they are added in full.
 * @param {State} state
 * @param {Fit} fit
 * @param {number | null} chosen
 */
export function leadClaims(state, fit, values, chosen = null) {
  const fits = fitsOfClasses(state, fit);
  if (fits.some((each) => !each?.claims)) return null;
  const classes = fits.map((each) => scoreOf(each, values));
  const first = chosen ?? likeliest(classes.map(({ score }) => score));
  return classes.map(({ score, std }, second) => {
    const lead = claimBetween(classes[first].score - score, classes[first].std + std, fit.claims.factor, "noise");
    return { ...lead, first, second, holds: lead.low > 0 };
  }).filter(({ second }) => second !== first);
}

/** The lead over the class that may come closest. */
export function closestLead(leads) {
  return leads.reduce((least, each) => (each.low < least.low ? each : least));
}

/** By how much the score of some values is above a limit; null if the errors are unknown. */
export function scoreClaim(fit, values, limit = 0) {
  if (!fit.claims) return null;
  const { score, std } = scoreOf(fit, values);
  return claimBetween(score - limit, std, fit.claims.factor, "noise");
}

/**
 * @param {State} state
 * @param {Fit} fit
 * @param {Question} question
 */
export function decisionClaim(state, fit, question) {
  if (state.payload.target.by_class) {
    const leads = leadClaims(state, fit, question.values);
    return leads === null ? null : closestLead(leads);
  }
  const at = thresholdScore(state.payload.link, question.threshold);
  return at === null ? null : scoreClaim(fit, question.values, at);
}

/**
 * The answer of one fit; null if its errors are unknown, or the question makes no claim.
 * @param {State} state
 * @param {Fit} fit
 * @param {Question | null} question
 * @returns {Claim | null}
 */
export function claimOf(state, fit, question) {
  if (question === null) return null;
  if (question.kind === "decision") return decisionClaim(state, fit, question);
  const termFit = fit.terms[state.termIndex];
  if (!termFit.claims) return null;
  if (termFit.axes) return pairClaim(termFit, question); // pages without pairs leave this line out
  if (question.kind === "rank") return rankClaim(fit, termFit);
  return isExtreme(question.kind) ? extremeClaim(termFit, question) : contrastClaim(termFit, question);
}

/** The same question for another fit with different bins; null if they do not separate the sides. */
function askedElsewhere(state, fit, question) {
  const { kind, bins } = question;
  if (bins.length === 0) return question;
  const [here, there] = [state.fit, fit].map((each) => each.terms[state.termIndex]);
  if (here.axes) return there.absent ? null : pairAskedElsewhere(here, there, question);
  if (bins.length === 1 || kind === "difference") {
    const matched = bins.map((bin) => matchedBin(here, bin, there));
    return matched.includes(null) || new Set(matched).size < bins.length ? null : { ...question, bins: matched };
  }
  const spans = spansIn(bins).map((span) => matchedSpan(here, span, there));
  if (spans.includes(null) || String(spans[0]) === String(spans[1])) return null;
  return spans.length === 2 ? askedBetween(spans[0], spans[1]) : { kind, bins: spans[0] };
}

function claimState(claim, asked, kind) {
  if (claim === null) return "not resolved";
  const agrees = claim.first === asked.first && claim.estimate * asked.estimate > 0;
  const same = kind === "rank" ? claim.estimate === asked.estimate : agrees;
  if (claim.holds) return same ? "holds" : "reversed";
  return claim.basis === "effect" ? "may be noise" : "may be noise or hidden by shrinkage";
}

/**
 * The answer at every epsilon, compared with the selected fit: [{epsilon, stop, claim, state, private}].
 * @param {State} state
 * @param {Question} question
 */
export function claimStrip(state, question) {
  const asked = claimOf(state, state.fit, question);
  return state.payload.fits.map((row, stop) => {
    const fit = row[Math.min(state.repeat, row.length - 1)];
    const claim = claimOf(state, fit, fit === state.fit ? question : askedElsewhere(state, fit, question));
    const epsilon = state.payload.epsilons[stop];
    const isPrivate = claim === null || fit.guarantee.private;
    return { epsilon, stop, claim, state: claimState(claim, asked, question.kind), private: isPrivate };
  });
}

/**
 * Predicted probabilities for both sides of a contrast (second, first, ends of the interval of the first), with all
 * other features at their typical value; null except for a sum of curves for two classes.
 * @param {State} state
 * @param {Question} question
 * @param {Claim} claim
 */
export function typicalShares({ payload, fit, termIndex }, question, claim) {
  const isSum = !payload.main_effects_only && fit.terms.every((term) => !term.axes);
  if (payload.link !== "logit" || !payload.target.classes || !isSum || question.bins.length === 0 ||
    isExtreme(question.kind)) return null;
  const [, second] = sidesOf(fit.terms[termIndex], question);
  const base = fit.terms.reduce((sum, term, i) => {
    if (i === termIndex) return sum + dot(second, term.contribution);
    return sum + term.contribution[typicalBin(term)];
  }, fit.intercept);
  return [0, claim.estimate, claim.low, claim.high].map((each) => 1 / (1 + Math.exp(-(base + each))));
}
