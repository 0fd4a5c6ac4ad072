// A page without a kernel: every element that names a state gets a view of its own.
import { stubModel } from "../state/stub_model.js";
import { unpack } from "../state/unpack.js";

/** Show a view of every state that the page holds. */
export function showStates(widget) {
  /** @type {NodeListOf<HTMLElement>} */
  const places = document.querySelectorAll("[data-dpx-state]");
  for (const el of places) {
    const state = document.getElementById(el.dataset.dpxState);
    state.remove();
    widget.render({ model: stubModel(unpack(JSON.parse(state.textContent))), el });
  }
}
