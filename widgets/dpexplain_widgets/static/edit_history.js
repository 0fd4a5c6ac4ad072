// The list of all edits: what was done, why, and every state to go back to.
import { button } from "./controls.js";
import { html } from "./dom.js";
import { checkedOut, keepLog, logOf, pathTo, withNote } from "./edit_log.js";
import { operationWords } from "./edit_words.js";

function stateButton(model, place, words, current) {
  const element = button(words, () => keepLog(model, checkedOut(logOf(model), place)));
  element.classList.add("dpx-edit-state");
  element.setAttribute("aria-current", current ? "step" : "false");
  return element;
}

function noteField(model, place, note) {
  const input = html("input", {
    type: "text", class: "dpx-edit-note", placeholder: "why?", "aria-label": `Note on edit ${place + 1}`,
  });
  input.value = note;
  input.addEventListener("change", () => keepLog(model, withNote(logOf(model), place, input.value)));
  return input;
}

/**
 * The list; `draw()` fills it from the log.
 * @param {import("./types").Model} model
 */
export function historyList(model) {
  const list = html("ol", { class: "dpx-edit-history", start: "0" });
  let shown = "";
  const draw = () => {
    const log = logOf(model);
    const now = JSON.stringify(log);
    if (now === shown) return;
    shown = now;
    const current = new Set(pathTo(log));
    const items = log.entries.map((entry, place) => {
      const before = entry.after < 0 ? "what was released" : entry.after + 1;
      const branch = entry.after !== place - 1 ? ` (after ${before})` : "";
      const words = `${operationWords(entry.operation)}${branch}`;
      const item = html("li", { class: current.has(place) ? "" : "dpx-edit-elsewhere" });
      item.append(stateButton(model, place, words, log.head === place), noteField(model, place, entry.note));
      return item;
    });
    list.replaceChildren(html("li", {}, stateButton(model, -1, "as released", log.head < 0)), ...items);
  };
  return { element: list, draw };
}

/**
 * A button that saves the log as a file that `dpexplain.io.load` reads.
 * @param {import("./types").Model} model
 */
export function downloadButton(model) {
  return button("Download edits", () => {
    const file = { format: "dpexplain/edit-log", version: 1, content: logOf(model) };
    const address = URL.createObjectURL(new Blob([JSON.stringify(file)], { type: "application/json" }));
    const link = html("a", { href: address, download: "edits.json" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  });
}
