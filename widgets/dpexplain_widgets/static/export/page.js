// A page without a kernel: every element that names a state gets its own view.
import { stubModel } from "../state/stub_model.js";
import { unpack } from "../state/unpack.js";

/** Show a view of every state in the page. */
export function showStates(widget) {
  /** @type {NodeListOf<HTMLElement>} */
  const places = document.querySelectorAll("[data-dpx-state]");
  for (const el of places) {
    const state = document.getElementById(el.dataset.dpxState);
    state.remove();
    widget.render({ model: stubModel(unpack(JSON.parse(state.textContent))), el });
  }
}
