// Plays through the epsilons in order until it is stopped.
import { button } from "../../kit/controls.js";
import { setText } from "../../kit/dom.js";
import { choose } from "../../state/choosing.js";
import { readState } from "../../state/state.js";

const PAUSE_MS = 900;

/**
 * The play button: `element` to place, `draw()` after changes, `destroy()` at the end.
 * @param {import("../../types").Model} model
 */
export function createPlayer(model) {
  let timer = null;
  const stop = () => {
    clearInterval(timer);
    timer = null;
    draw();
  };
  const step = () => {
    const state = readState(model);
    const next = state.stop + 1;
    if (next >= state.payload.epsilons.length) stop();
    else choose(model, { epsilon_index: next });
  };
  const start = () => {
    const state = readState(model);
    const atEnd = state.stop >= state.payload.epsilons.length - 1;
    if (atEnd) choose(model, { epsilon_index: 0 });
    timer = setInterval(step, PAUSE_MS);
    draw();
  };
  const element = button("", () => (timer === null ? start() : stop()));
  const draw = () => {
    setText(element, timer === null ? "▶" : "■");
    element.title = timer === null ? "Play through ε" : "Stop";
    element.setAttribute("aria-label", element.title);
    element.hidden = readState(model).payload.epsilons.length < 2;
  };
  draw();
  return { element, draw, destroy: () => clearInterval(timer) };
}
