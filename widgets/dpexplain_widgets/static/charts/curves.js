// Which fits of a term are drawn together, and in which role.
import { splitSpecial } from "./bins.js";

const NO_NOISE = { noise_std: null, structure_std: null, sampling_std: null, total_std: null, signal: null };

/**
 * The estimated effect as a curve, without the noise of the released curve; null if there is no
 * estimate.
 * @param {import("../types").TermFit} termFit
 */
export function effectCurve(termFit) {
  return termFit.effect ? { ...termFit, ...NO_NOISE, contribution: termFit.effect } : null;
}

/**
 * Curves drawn for the chosen term: "both", "released" or "effect".
 * @param {import("../types").State} state
 */
export function shownLayer(state, termFit = mainTerm(state)) {
  return termFit.effect ? state.shownCurve : "released";
}

/**
 * The fits of the chosen term in drawing order, the main one last. If only estimates are drawn,
 * they replace the released curves of all fits that have an estimate.
 * @param {import("../types").State} state
 */
export function termCurves(state) {
  const layer = shownLayer(state);
  const released = releasedCurves(state);
  if (layer === "released") return released;
  const main = released.at(-1);
  const estimate = { role: "effect", termFit: effectCurve(main.termFit) };
  if (layer === "both") return [...released.slice(0, -1), estimate, main];
  const beside = released.slice(0, -1).map(({ role, termFit }) => ({ role, termFit: effectCurve(termFit) ?? termFit }));
  return [...beside, estimate];
}

function releasedCurves(state) {
  const at = (fit) => fit.terms[state.termIndex];
  const curves = state.fits
    .filter((_, i) => i !== state.repeat)
    .map((fit) => ({ role: "repeat", termFit: at(fit) }));
  if (state.pinned) curves.push({ role: "pinned", termFit: at(state.pinned) });
  if (state.other) curves.push({ role: "other", termFit: at(state.other) });
  if (state.atReference) return [...curves, { role: "reference", termFit: at(state.fit) }];
  if (state.reference) curves.push({ role: "reference", termFit: at(state.reference) });
  return [...curves, { role: "main", termFit: at(state.fit) }];
}

/**
 * The term in the selected fit.
 * @param {import("../types").State} state
 */
export function mainTerm(state) {
  return state.fit.terms[state.termIndex];
}

/**
 * Every fit of the chosen term that can be drawn on the same axis, in any role.
 * @param {import("../types").State} state
 */
export function axisTerms(state, everyEpsilon) {
  const shown = termCurves(state).map((curve) => curve.termFit);
  if (!everyEpsilon) return shown;
  const layer = shownLayer(state);
  const every = state.payload.fits.flat().flatMap((fit) => {
    const termFit = fit.terms[state.termIndex];
    const estimate = layer === "released" ? null : effectCurve(termFit);
    return [...(layer === "effect" && estimate ? [] : [termFit]), ...(estimate ? [estimate] : [])];
  });
  return [...shown, ...every];
}

function endsAround(contribution, std, factor) {
  return contribution.map((value, i) => [value - factor * std[i], value + factor * std[i]]);
}

/** Lower and upper end of the total uncertainty band in each bin; null if unknown. */
export function noiseEnds({ contribution, total_std: std, band_factor: factor }) {
  return std ? endsAround(contribution, std, factor) : null;
}

/** Lower and upper end of the effect band in each bin; null if unknown. */
export function effectEnds({ effect, effect_std: std, effect_factor: factor }) {
  return effect && std && typeof factor === "number" ? endsAround(effect, std, factor) : null;
}

/** The same for privacy noise alone; null if it is the only source of noise. */
export function privacyEnds({ contribution, noise_std: std, structure_std: others }) {
  return std && others ? endsAround(contribution, std, 2) : null;
}

// Bands may extend the axis by half at each end: one nearly empty bin must not flatten all
// curves. A mark shows where a band is cut off.
function withinReach(ends, values) {
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  if (low === high) return ends;
  const room = (high - low) / 2;
  return ends.map((end) => Math.max(low - room, Math.min(high + room, end)));
}

/**
 * All values that the axis must show: contributions, and noise bands up to a limit. With
 * `everyEpsilon` the axis stays fixed while epsilon changes. Hidden fits are left out, because an
 * axis would reveal them. So are special bins: they are often empty, and their noise would flatten
 * all the others.
 * @param {import("../types").State} state
 */
export function axisValues(state, everyEpsilon) {
  const terms = axisTerms(state, everyEpsilon);
  const values = terms.flatMap((termFit) => splitSpecial(termFit, termFit.contribution).ordinary);
  if (values.length === 0) return mainTerm(state).contribution;
  const main = mainTerm(state);
  const layer = shownLayer(state);
  const banded = everyEpsilon ? terms : layer === "effect" ? [] : [main];
  const bandOf = (termFit, bands) => (bands === null ? [] : splitSpecial(termFit, bands).ordinary.flat());
  // Only the band of the main estimate is included; those of other epsilons may be much wider.
  const ends = [
    ...banded.flatMap((termFit) => bandOf(termFit, noiseEnds(termFit))),
    ...(layer === "released" ? [] : bandOf(main, effectEnds(main))),
  ];
  return [...values, ...withinReach(ends, values)];
}

/**
 * The watermark that a picture needs, or null.
 * @param {import("../types").State} state
 */
export function watermarkText(state) {
  if (!state.fit.guarantee.private) return "NOT PRIVATE — do not publish";
  const inside = state.reference || (state.other && !state.other.guarantee.private);
  return inside ? "not releasable" : null;
}
