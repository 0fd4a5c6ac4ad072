// The fits that a waterfall marks, and the waterfall as it may be released in a figure.
import { explainValues } from "./contributions.js";
import { chanceOf } from "./class_probabilities.js";
import { FIGURE_WIDTH, releasableState } from "../../export/figure.js";
import { html, uniqueId } from "../../kit/dom.js";
import { formatEpsilon } from "../../kit/format.js";
import { drawWaterfall } from "./waterfall.js";
import { otherWords } from "../../kit/words.js";

/** Fits marked in addition to the selected one: [{role, words, explained}]. */
export function comparedFits(state, values) {
  const others = [];
  const add = (role, words, fit) => {
    if (!fit) return;
    const explained = { ...explainValues(fit, values), intercept: fit.intercept };
    others.push({ role, words, explained, chance: chanceOf(state, fit, values) });
  };
  if (!state.atReference) add("reference", "non-private reference, not releasable", state.reference);
  const pinned = state.payload.epsilons[state.pinnedStop];
  add("pinned", `pinned, ε = ${formatEpsilon(pinned)}`, state.pinned);
  if (state.other) add("other", otherWords(state), state.other);
  return others;
}

/**
 * The waterfall of a panel, for private fits and a public or no sample: {key, title, elements}; or a text that
 * says why it is not available.
 */
export function localForFigure(panel) {
  const { values, rows, font, sample } = panel;
  const state = releasableState(panel.state);
  if (typeof state === "string") return state;
  if (sample !== null && !state.samples.public) {
    return "This sample is not marked as public, so it cannot be in a figure.";
  }
  const drawn = drawWaterfall({
    state, rows, font, others: comparedFits(state, values), ids: { hatch: uniqueId("hatch") },
    width: Math.min(panel.width, FIGURE_WIDTH), mark: null, valueText: (i) => panel.valueText(i),
  });
  const key = JSON.stringify(["", state.payload.name, state.stop, state.repeat, state.pinnedStop, values]);
  const about = html("p", { class: "dpx-note" }, panel.originWords(state));
  return { key, title: "Why this prediction?", elements: [about, drawn.element] };
}
