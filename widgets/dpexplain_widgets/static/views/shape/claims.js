// A claim compares two bins of a term, with the joint errors of both ends.
import { binOfValue } from "../disagreement/distance.js";

const APART_LEVELS = 92;
const APART_LEAST = 1e-3;
const APART_RATIO = (2 / APART_LEAST) ** (1 / (APART_LEVELS - 1));

/** One minus the correlation of two bins, rounded up; 2, the worst case, where it is unknown. */
function apartOf(apart, count, one, other) {
  if (apart === null) return 2;
  const [low, high] = [Math.min(one, other), Math.max(one, other)];
  const pair = low * count - (low * (low + 1)) / 2 + (high - low - 1);
  return 2 * APART_RATIO ** -(apart.charCodeAt(pair) - 35);
}

/**
 * The difference of two bins: {estimate, std, low, high, holds, basis}; null if nothing is known.
 * @param {import("../../types").TermFit} termFit
 */
export function claimOf(termFit, one, other) {
  const { claims } = termFit;
  if (!claims || one === other) return null;
  const effect = claims.basis === "effect";
  const [values, stds] = effect ? [termFit.effect, termFit.effect_std] : [termFit.contribution, termFit.total_std];
  const [a, b] = [stds[one], stds[other]];
  const apart = apartOf(claims.apart, termFit.labels.length, one, other);
  const std = Math.sqrt((a - b) ** 2 + 2 * a * b * apart);
  const estimate = values[one] - values[other];
  const [low, high] = [estimate - claims.factor * std, estimate + claims.factor * std];
  return { estimate, std, low, high, holds: low > 0 || high < 0, basis: claims.basis };
}

/**
 * The bin of another fit that holds the middle of a bin, or has its name; null if there is none.
 * @param {import("../../types").TermFit} here
 * @param {import("../../types").TermFit} there
 */
export function matchedBin(here, place, there) {
  const values = here.labels.length - here.special.length;
  if (here.edges !== null && there.edges !== null && place < values) {
    return binOfValue(there.edges, (here.edges[place] + here.edges[place + 1]) / 2);
  }
  const found = there.labels.indexOf(here.labels[place]);
  return found < 0 ? null : found;
}

function claimState(claim, asked) {
  if (claim === null) return "not resolved";
  if (claim.holds) return claim.estimate * asked.estimate > 0 ? "holds" : "reversed";
  return claim.basis === "effect" ? "may be noise" : "may be noise or hidden by shrinkage";
}

/**
 * The claim about two bins of the fit shown, at every epsilon: [{epsilon, stop, claim, state}].
 * @param {import("../../types").State} state
 */
export function claimStrip(state, one, other) {
  const i = state.termIndex;
  const here = state.fit.terms[i];
  const asked = claimOf(here, one, other);
  return state.payload.fits.map((row, stop) => {
    const there = row[Math.min(state.repeat, row.length - 1)].terms[i];
    const [first, second] = there === here ? [one, other] : [one, other].map((bin) => matchedBin(here, bin, there));
    const claim = first === null || second === null ? null : claimOf(there, first, second);
    return { epsilon: state.payload.epsilons[stop], stop, claim, state: claimState(claim, asked) };
  });
}
