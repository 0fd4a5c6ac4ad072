// The names of curves next to their ends, so that a reader need not look them up in the legend.
import { splitSpecial } from "./bins.js";
import { formatEpsilon, shortName } from "../kit/format.js";
import { label, LABEL_SIZE } from "./marks.js";
import { fitText, textWidth } from "../kit/text.js";

const NARROW = 480;
const MOST_LETTERS = 14;
const NAMES_APART = 16;

/** Room for the names of curves next to their ends, the same at every stop; 0 if one curve needs no name. */
export function laneWidth(state, width, font) {
  const { payload, reference, pinnedStop, other } = state;
  const hasMany = (reference && payload.epsilons.length > 0) || pinnedStop >= 0 || other;
  if (!hasMany || width < NARROW) return 0;
  const names = payload.epsilons.map((epsilon) => `ε = ${formatEpsilon(epsilon)}`);
  if (reference) names.push("reference");
  if (other) names.push(shortName(state.otherName, MOST_LETTERS));
  return Math.ceil(Math.max(...names.map((name) => textWidth(name, LABEL_SIZE, font)))) + 16;
}

function nameOf({ payload, stop, pinnedStop, otherName }, role) {
  const names = {
    main: () => `ε = ${formatEpsilon(payload.epsilons[stop])}`,
    pinned: () => `ε = ${formatEpsilon(payload.epsilons[pinnedStop])}`,
    reference: () => "reference",
    other: () => shortName(otherName, MOST_LETTERS),
  };
  return names[role]?.();
}

/** The name of each curve next to its end, far enough apart to be read. */
export function curveNames(state, { lane, right, y, top, bottom }, curves, font) {
  if (lane === 0) return [];
  const ends = curves.map(({ role, termFit }) => ({
    role, name: nameOf(state, role), at: y(splitSpecial(termFit, termFit.contribution).ordinary.at(-1)),
  })).filter(({ name }) => name !== undefined).sort((a, b) => a.at - b.at);
  const places = [];
  for (const { at } of ends) places.push(Math.max(at, top + 4, (places.at(-1) ?? -Infinity) + NAMES_APART));
  for (let i = places.length - 1, most = bottom - 4; i >= 0; i -= 1, most = places[i + 1] - NAMES_APART) {
    places[i] = Math.min(places[i], most);
  }
  return ends.map(({ role, name }, i) =>
    label(fitText(name, lane - 8, LABEL_SIZE, font), right + 6, places[i] + 4.5, "start", `dpx-end dpx-end-${role}`));
}
