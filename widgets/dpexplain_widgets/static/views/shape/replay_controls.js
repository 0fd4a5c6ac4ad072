// Buttons to play or step through noise draws.
import { button } from "../../kit/controls.js";
import { html, setText } from "../../kit/dom.js";
import { choose } from "../../state/choosing.js";

const DRAW_MS = 650;

/** Whether the system is set to reduce motion. */
function wantsLessMotion() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/**
 * `element` to place, `draw(possible)` after changes, `destroy()` at the end.
 * @param {import("../../types").Model} model
 */
export function replayControls(model) {
  let timer = null;
  const next = () => choose(model, { replay_draw: (model.get("replay_draw") ?? -1) + 1 });
  const stop = () => {
    clearInterval(timer);
    timer = null;
    choose(model, { replay_draw: null });
  };
  const play = button("", () => {
    if (timer !== null || model.get("replay_draw") !== null) {
      stop();
      return;
    }
    next();
    if (!wantsLessMotion()) timer = setInterval(next, DRAW_MS);
  });
  const step = button("Next rerun", next);
  const element = html("span", { class: "dpx-choice dpx-replay" }, play, step);
  const draw = (possible) => {
    element.hidden = !possible;
    const shown = Number.isInteger(model.get("replay_draw"));
    if (!possible && timer !== null) stop();
    setText(play, shown ? "■ Stop replay" : "▶ Replay the noise");
    step.hidden = !shown;
  };
  return { element, draw, destroy: () => clearInterval(timer) };
}
