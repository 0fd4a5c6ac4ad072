// The switch for the non-private reference.
import { checkbox } from "../kit/controls.js";
import { html } from "../kit/dom.js";
import { drawOnChange, readState, toggleReference } from "./state.js";

/**
 * A checkbox that shows or hides the reference; hidden if there is no reference.
 * @param {import("../types").Model} model
 */
export function referenceToggle(model) {
  const box = checkbox("Show non-private reference", false, () => toggleReference(model));
  box.element.classList.add("dpx-reference-toggle");
  box.element.append(html("kbd", {}, "r"));
  box.element.title = "Shortcut: r";
  box.input.setAttribute("aria-keyshortcuts", "r");
  const draw = () => {
    const state = readState(model);
    box.element.hidden = state.payload.reference === null || state.payload.epsilons.length === 0;
    box.input.checked = state.referenceShown;
  };
  const stop = drawOnChange(model, ["payload", "show_reference"], draw);
  draw();
  return { element: box.element, destroy: stop };
}
