// Parts of a view that is shown without the overview: the choice of epsilon, the switch for the
// reference, and the guarantee.
import { choiceBox } from "./controls.js";
import { html, setText } from "./dom.js";
import { formatEpsilon } from "./format.js";
import { referenceToggle } from "../state/reference_toggle.js";
import { choose } from "../state/choosing.js";
import { CHOICE_KEYS, drawOnChange, readState } from "../state/state.js";
import { epsilonWords, guaranteeDetail, guaranteeSentence } from "./words.js";

function stopOptions(state) {
  const options = state.payload.epsilons.map((epsilon, i) => [String(i), formatEpsilon(epsilon)]);
  if (state.referenceShown) options.push([String(options.length), "∞, no privacy"]);
  return options;
}

function guaranteeWords(state) {
  const { guarantee } = state.fit;
  const what = guarantee.private ? epsilonWords(state) : "NOT PRIVATE — do not publish";
  return `${what} · ${guaranteeDetail(guarantee)}. ${guaranteeSentence(guarantee)}`;
}

/** The elements `controls` and `sentence`, and `destroy()` to remove them. */
export function standaloneParts(model) {
  const epsilonBox = choiceBox("ε", (stop) => choose(model, { epsilon_index: Number(stop) }));
  const toggle = referenceToggle(model);
  const sentence = html("p", { class: "dpx-note dpx-standalone-words" });
  const draw = () => {
    const state = readState(model);
    if (state.fit === undefined) return;
    epsilonBox.fill(stopOptions(state), String(state.stop));
    epsilonBox.element.hidden = state.stopCount < 2;
    setText(sentence, guaranteeWords(state));
  };
  const stop = drawOnChange(model, CHOICE_KEYS, draw);
  draw();
  const destroy = () => {
    stop();
    toggle.destroy();
  };
  return { controls: [epsilonBox.element, toggle.element], sentence, destroy };
}
