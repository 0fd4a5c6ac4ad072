// Choices that a reader makes in a page, which its kernel learns after they are drawn.
import { afterNextFrame } from "../kit/dom.js";

/** @typedef {import("../types").Model} Model */

/** @type {WeakMap<Model, (choices: Record<string, any>) => void>} */
const choosers = new WeakMap();

/** @param {Model} model */
function chooserOf(model) {
  const unsent = new Map();
  const watched = new Set();
  const send = () => {
    unsent.clear();
    model.save_changes();
  };
  const later = afterNextFrame(send);
  // The kernel's answer to an earlier choice does not replace one that it does not know yet.
  const stand = (key) => {
    if (unsent.has(key) && model.get(key) !== unsent.get(key)) model.set(key, unsent.get(key));
  };
  return (choices) => {
    for (const [key, value] of Object.entries(choices)) {
      if (!watched.has(key)) model.on(`change:${key}`, () => stand(key));
      watched.add(key);
      unsent.set(key, value);
      model.set(key, value);
    }
    queueMicrotask(layOut);
    if (document.hidden) send(); // a hidden page has no next frame
    else later.ask();
  };
}

// By now, views have drawn the choices; the frame need not wait for the layout.
function layOut() {
  return document.body.offsetHeight;
}

/**
 * Set several choices, which views draw at once, and notify the kernel once after the next frame, because every message
 * makes JupyterLab draw too.
 * @param {Model} model
 * @param {Record<string, any>} choices
 */
export function choose(model, choices) {
  if (!choosers.has(model)) choosers.set(model, chooserOf(model));
  choosers.get(model)(choices);
}
