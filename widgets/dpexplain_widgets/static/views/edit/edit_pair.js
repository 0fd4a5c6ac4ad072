// The edit view of a pair of features: the log, with undo and redo. Its cells are edited in Python.
import { button } from "../../kit/controls.js";
import { html } from "../../kit/dom.js";
import { drawOnChange } from "../../state/state.js";
import { historyList } from "./edit_history.js";
import { keepLog, logOf, redone, undone } from "./edit_log.js";

const WORDS = "Only curves can be edited on this page. The chosen term is a pair of features: edit its cells in " +
  "Python with view.edit_log = view.edit_log.edit(...), or choose a term of one feature.";

/**
 * Put the log of edits into `host`. Returns a function that ends it.
 * @param {import("../../types").Model} model
 */
export function createPairEditor(model, host) {
  const history = historyList(model);
  const undo = button("Undo", () => keepLog(model, undone(logOf(model))));
  const redo = button("Redo", () => keepLog(model, redone(logOf(model))));
  host.append(
    html("header", { class: "dpx-head" }, html("h3", {}, "Edit")),
    html("p", { class: "dpx-note" }, WORDS),
    html("div", { class: "dpx-controls" }, undo, redo),
    html("section", {}, html("h4", {}, "History"), history.element),
  );
  const draw = () => {
    const log = logOf(model);
    undo.disabled = log.head < 0;
    redo.disabled = log.undone.length === 0;
    history.draw();
  };
  draw();
  return drawOnChange(model, ["edits"], draw);
}
