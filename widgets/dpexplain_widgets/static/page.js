// A page without a kernel: every element that names a state gets a view of its own.
import { stubModel } from "./stub_model.js";
import { unpack } from "./unpack.js";

/** Show a view of every state that the page holds. */
export function showStates(widget) {
  for (const el of document.querySelectorAll("[data-dpx-state]")) {
    const state = document.getElementById(el.dataset.dpxState);
    state.remove();
    widget.render({ model: stubModel(unpack(JSON.parse(state.textContent))), el });
  }
}
