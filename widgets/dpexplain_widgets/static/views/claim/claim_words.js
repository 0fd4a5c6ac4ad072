// Claims in words: what is compared, the difference, and the epsilons where it holds.
import { spanLabel, spansIn, valueCount } from "./contrasts.js";
import { claimTimes, claimedClass, claimedScore, direction } from "./claim_parts.js";
import { claimedPair } from "./pair_words.js";
import { predictionOf, thresholdScore } from "../local/contributions.js";
import { formatCount, formatEpsilon, formatNumber, formatSigned, quotedName, shortName } from "../../kit/format.js";

/**
 * @typedef {import("../../types").State} State
 * @typedef {import("../../types").Question} Question
 * @typedef {import("../../types").Claim} Claim
 */

const MOST_LISTED = 3;

/** A sentence about results that are not private, with that first; other sentences as they are. */
function marked(words, isPrivate) {
  return isPrivate ? words : `NOT PRIVATE: ${words[0].toLowerCase()}${words.slice(1)}`;
}

/**
 * A claim as a sentence that asserts it only if it holds.
 * @param {State} state
 * @param {string} said
 * @param {string | null} reason  why it does not hold, "" if `said` tells it; null if it holds
 */
export function claimSentence({ fit, payload, stop }, said, reason) {
  const at = fit.guarantee.private ? `At ε = ${formatEpsilon(payload.epsilons[stop])}` : "NOT PRIVATE: in this fit";
  if (reason === null) return `${at}, ${said}.`;
  return `${at}, it is uncertain whether ${said}${reason && "; "}${reason}.`;
}

/** Both sides of a contrast: ["30 – 34", "the average record"]. */
function comparedNames({ fit, termIndex }, { kind, bins }) {
  const spans = kind === "difference" ? bins.map((bin) => [bin]) : spansIn(bins);
  const names = spans.map((span) => quotedName(spanLabel(fit.terms[termIndex], span), 40));
  return [names[0], names[1] ?? (kind === "sign" ? "the average record" : "all others")];
}

function claimedContrast(state, question, claim) {
  const { payload, term } = state;
  const name = quotedName(term.name, 40);
  const [first, second] = comparedNames(state, question);
  const isOther = ["difference", "ranges"].includes(question.kind);
  const against = isOther ? `records with ${name} = ${second}` : second;
  const unit = payload.score_unit ? ` ${shortName(payload.score_unit, 40)}` : "";
  return `records with ${name} = ${first} have ${direction(claim.estimate)} ${claimedScore(payload)} ` +
    `than ${against}, other features equal: ${formatSigned(claim.estimate)}${unit}` +
    `${claimTimes(payload.link, claim.estimate)}, 95% between ${formatSigned(claim.low)} and ` +
    `${formatSigned(claim.high)}`;
}

/** Which bins can be the extreme: the span of ordered bins, or the first few categories. */
function candidateWords({ fit, termIndex, term }, candidates) {
  const termFit = fit.terms[termIndex];
  const names = candidates.map((bin) => quotedName(termFit.labels[bin], 40));
  if (names.length === 1) return `is ${names[0]}`;
  if (names.length === valueCount(termFit)) return "may be any of them";
  const span = [candidates[0], candidates.at(-1)];
  if (term.kind === "numeric") return `lies in ${quotedName(spanLabel(termFit, span), 40)}`;
  if (term.ordered) return `lies in ${names[0]} to ${names.at(-1)}`;
  const more = names.length - MOST_LISTED;
  return `is one of ${names.slice(0, MOST_LISTED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function claimedExtreme(state, question, claim) {
  const { payload, term } = state;
  const { kind } = question;
  const unit = payload.score_unit ? ` ${shortName(payload.score_unit, 40)}` : "";
  const denied = claim.holds && (claim.estimate > 0) !== (kind === "highest");
  return `records with ${quotedName(term.name, 40)} = ${comparedNames(state, question)[0]} ` +
    `${denied ? "do not have" : "have"} the ${kind} ${claimedScore(payload)}, ` +
    `other features equal: ${formatSigned(claim.estimate)}${unit}${claimTimes(payload.link, claim.estimate)} ` +
    `compared with the ${kind} of all others. With 95% confidence, the ${kind} bin ` +
    candidateWords(state, claim.candidates);
}

function claimedRank({ payload, term }, claim) {
  const count = payload.terms.filter(({ kind }) => kind !== "pair").length;
  const isCertain = claim.low === claim.high && claim.high === claim.estimate;
  const interval = isCertain ? ", with 95% confidence" : `: 95% between ${claim.low} and ${claim.high}`;
  const order = claim.basis === "effect" ? "the effect in the population" : "importance";
  return `${quotedName(term.name, 40)} has rank ${claim.estimate} of ${count} by ${order}${interval}`;
}

/**
 * @param {State} state
 * @param {Question} question
 * @param {Claim} claim
 */
function claimedDecision({ payload, models }, { threshold }, claim) {
  if (claim.first !== undefined) {
    const [first, second] = [claim.first, claim.second].map((k) => quotedName(models[k].name, 40));
    return `${quotedName(payload.target.name, 40)} = ${first} is the most likely class for this record: ` +
      `${formatSigned(claim.estimate)} log-odds against ${second}, 95% between ${formatSigned(claim.low)} and ` +
      formatSigned(claim.high);
  }
  const at = thresholdScore(payload.link, threshold);
  const [said, low, high, limit] = [claim.estimate, claim.low, claim.high, 0]
    .map((each) => formatNumber(predictionOf(payload.link, each + at)));
  const about = claimedClass(payload);
  const what = about === null ? `prediction of ${claimedScore(payload)}` : `predicted probability of ${about}`;
  return `the ${what} for this record is ${claim.estimate > 0 ? "above" : "below"} ${limit}: ${said}, 95% between ` +
    `${low} and ${high}`;
}

function doubtWords({ holds, basis }, kind) {
  if (holds) return null;
  if (["rank", "highest", "lowest"].includes(kind)) return ""; // the sentence lists what is possible
  return basis === "effect" ? "may be noise" : "may be noise or hidden by shrinkage";
}

/**
 * The claim as a sentence.
 * @param {State} state
 * @param {Question} question
 * @param {Claim} claim
 */
export function claimWords(state, question, claim) {
  const extreme = () => claimedExtreme(state, question, claim);
  const words = {
    rank: () => claimedRank(state, claim), decision: () => claimedDecision(state, question, claim),
    highest: extreme, lowest: extreme,
    pair: () => claimedPair(state, question, claim), // a line of its own: pages without pairs leave it out
  };
  const isPair = question.kind !== "decision" && Boolean(state.fit.terms[state.termIndex].axes);
  const said = (words[isPair ? "pair" : question.kind] ?? (() => claimedContrast(state, question, claim)))();
  return claimSentence(state, said, doubtWords(claim, question.kind));
}

/**
 * Proportions as counts in 100 records, or in more if a count would be 0; "" if unknown.
 * @param {State} state
 * @param {Question} question
 * @param {number[] | null} shares
 */
export function frequencyWords(state, question, shares) {
  if (shares === null) return "";
  const rarest = Math.min(...shares.slice(0, 2).map((share) => Math.min(share, 1 - share)));
  const records = [100, 1000].find((count) => count * rarest >= 1) ?? 10000;
  const [second, first, low, high] = shares.map((share) => formatCount(Math.floor(records * share + 0.5)));
  const name = quotedName(state.term.name, 40);
  const [one, other] = comparedNames(state, question);
  const sides = {
    range: `${name} is in any other bin`, sign: `${name} contributes its average`,
  };
  const words = `Of ${formatCount(records)} records with typical values of all other features, the model ` +
    `expects ${second} to have ${claimedClass(state.payload)} where ` +
    `${sides[question.kind] ?? `${name} = ${other}`}, and ${first} where ` +
    `${name} = ${one} (95% between ${low} and ${high}).`;
  return marked(words, state.fit.guarantee.private);
}

/** Where the claim holds, as a sentence. */
export function stripWords(strip) {
  return marked(heldWords(strip), strip.every((each) => each.private));
}

function heldWords(strip) {
  const holding = strip.filter(({ state }) => state === "holds");
  const names = holding.map(({ epsilon }) => formatEpsilon(epsilon));
  if (holding.length === 0) return "The claim holds at no ε shown.";
  if (holding.length === strip.length) return "The claim holds at every ε shown.";
  const upwards = strip.slice(strip.indexOf(holding[0])).every(({ state }) => state === "holds");
  return upwards ? `The claim holds from ε = ${names[0]}.` : `The claim holds at ε = ${names.join(", ")} only.`;
}

const CLAIM_BASES = {
  effect: "It refers to the estimated effect in the population, with noise, sampling and shrinkage in its interval.",
  noise: "It refers to the released curve without its noise; a short fit shrinks curves, so the effect can be larger.",
  pair: "It refers to what the pair adds in the population, with noise, sampling and shrinkage in its interval, " +
    "which follows from the band of all cells and holds for all regions at once.",
  "pair, noise": "It refers to what the released pair adds, without its noise; the effect of this pair is not " +
    "estimated. Its interval follows from the band of all cells and holds for all regions at once.",
  lead: "It refers to the prediction without the noise of the fit; the errors of both classes are added up.",
  decision: "It refers to the prediction without the noise of the fit; the errors of terms are added up with the " +
    "largest correlation of any of their bins.",
};

/**
 * What the interval of a claim covers, in a sentence.
 * @param {Claim} claim
 * @param {Question} question
 * @param {boolean} isPair
 */
export function basisWords({ basis, first }, { kind }, isPair) {
  if (first !== undefined) return CLAIM_BASES.lead;
  if (isPair) return CLAIM_BASES[basis === "effect" ? "pair" : "pair, noise"];
  return CLAIM_BASES[kind === "decision" ? kind : basis];
}
