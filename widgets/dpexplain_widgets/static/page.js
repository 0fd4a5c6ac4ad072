// A page without a kernel: every element that names a state gets an Explorer of its own.
import { createExplorer } from "./explorer.js";
import { stubModel } from "./stub_model.js";
import { mountView } from "./view.js";

for (const el of document.querySelectorAll("[data-dpx-state]")) {
  const state = JSON.parse(document.getElementById(el.dataset.dpxState).textContent);
  mountView("explorer", createExplorer, stubModel(state), el);
}
