// A part that differs for kinds of terms.
import { html } from "../kit/dom.js";
import { drawOnChange, readState } from "./state.js";

/** @typedef {(model: import("../types").Model, host: HTMLElement, options: object) => () => void} Create */

/**
 * A part for terms of every kind: `others` creates it for the kinds that `special` does not name.
 * @param {Create} others
 * @param {Record<string, Create>} special
 * @returns {Create}
 */
export function byKind(others, special) {
  return (model, host, options) => {
    const box = html("div", { class: "dpx-by-kind" });
    host.append(box);
    let shown = null;
    let stopShown = () => {};
    const draw = () => {
      const wanted = special[readState(model).term?.kind] ?? others;
      if (wanted === shown) return;
      shown = wanted;
      stopShown();
      box.replaceChildren();
      stopShown = wanted(model, box, options);
    };
    const stop = drawOnChange(model, ["payload", "model_name", "term"], draw);
    draw();
    return () => {
      stop();
      stopShown();
    };
  };
}
