// Which fits of a term are drawn together, and in which role.
import { splitSpecial } from "./bins.js";

/** The fits of the chosen term in drawing order, the main one last. */
export function termCurves(state) {
  const at = (fit) => fit.terms[state.termIndex];
  const curves = state.fits
    .filter((_, i) => i !== state.repeat)
    .map((fit) => ({ role: "repeat", termFit: at(fit) }));
  if (state.pinned) curves.push({ role: "pinned", termFit: at(state.pinned) });
  if (state.atReference) return [...curves, { role: "reference", termFit: at(state.fit) }];
  if (state.reference) curves.push({ role: "reference", termFit: at(state.reference) });
  return [...curves, { role: "main", termFit: at(state.fit) }];
}

/** The term in the fit that is being read. */
export function mainTerm(state) {
  return state.fit.terms[state.termIndex];
}

/**
 * All contributions that the value axis must hold. With `everyEpsilon` the axis stays where it
 * is while epsilon changes. Hidden fits take no part: an axis would give them away. Special bins
 * take none either: often nobody is in them, and their noise would flatten all the others.
 */
export function axisValues(state, everyEpsilon) {
  const shown = termCurves(state).map((curve) => curve.termFit);
  const others = everyEpsilon
    ? state.payload.fits.flat().map((fit) => fit.terms[state.termIndex])
    : [];
  const ordinary = [...shown, ...others].flatMap(
    (termFit) => splitSpecial(termFit, termFit.contribution).ordinary,
  );
  return ordinary.length > 0 ? ordinary : mainTerm(state).contribution;
}

/** What the picture must carry as a watermark, or null. */
export function watermarkText(state) {
  if (!state.fit.guarantee.private) return "NOT PRIVATE — do not publish";
  return state.reference ? "not releasable" : null;
}
