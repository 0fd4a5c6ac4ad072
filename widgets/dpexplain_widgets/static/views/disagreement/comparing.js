// Comparison targets: the reference, a pinned epsilon, another model, another fit.
import { formatEpsilon, quotedName } from "../../kit/format.js";
import { nearestStop } from "../../state/state.js";

function withReference(state) {
  if (state.reference === null || state.payload.fits.length === 0) return null;
  return {
    kind: "reference", words: "the non-private reference", releasable: false,
    fitAt: () => state.reference,
  };
}

/** The stop to compare with: the pinned one, or else the largest epsilon, which has the least noise. */
export function baseStop(state) {
  return state.pinnedStop >= 0 ? state.pinnedStop : state.payload.epsilons.length - 1;
}

function withEpsilon(state) {
  const { epsilons, fits } = state.payload;
  if (epsilons.length < 2) return null;
  const stop = baseStop(state);
  const why = state.pinnedStop >= 0 ? "pinned" : "the largest; pin another one to compare";
  return {
    kind: "epsilon", words: `ε = ${formatEpsilon(epsilons[stop])} (${why})`, baseStop: stop,
    fitAt: () => fits[stop][Math.min(state.repeat, fits[stop].length - 1)],
  };
}

function withModel(state) {
  const other = state.models.find((each) => each.name === state.otherName);
  if (!other || other.fits.length === 0) return null;
  return {
    kind: "model", words: `${quotedName(other.name, 40)} at the same or nearest ε`,
    fitAt(stop) {
      const fits = other.fits[nearestStop(other.epsilons, state.payload.epsilons[stop])];
      return fits[Math.min(state.repeat, fits.length - 1)];
    },
  };
}

function withRepeat(state) {
  const { fits } = state.payload;
  if (!fits.some((row) => row.length > 1)) return null;
  return {
    kind: "repeat", words: "another fit at the same ε: they differ by noise alone",
    fitAt(stop) {
      const row = fits[stop];
      return row.length > 1 ? row[(Math.min(state.repeat, row.length - 1) + 1) % row.length] : null;
    },
  };
}

const KINDS = { reference: withReference, epsilon: withEpsilon, model: withModel, repeat: withRepeat };

/**
 * Names of the available kinds of comparison.
 * @param {import("../../types").State} state
 */
export function comparisonKinds(state) {
  return Object.keys(KINDS).filter((kind) => KINDS[kind](state) !== null);
}

/**
 * The comparison: {kind, words, fitAt(stop)}, of the requested or else the first available kind;
 * null for a single fit. Numbers may be shared only if all fits used are private.
 * @param {import("../../types").State} state
 */
export function comparisonOf(state, wanted) {
  const kinds = comparisonKinds(state);
  if (kinds.length === 0) return null;
  return KINDS[kinds.includes(wanted) ? wanted : kinds[0]](state);
}
