// The list of all edits: what was done, why, and every state that can be restored.
import { button } from "../../kit/controls.js";
import { html, setText } from "../../kit/dom.js";
import { download } from "../../export/download.js";
import { checkedOut, keepLog, logOf, named, namesOf, pathTo, withNote } from "./edit_log.js";
import { operationWords } from "./edit_words.js";
import { quotedName, shortName } from "../../kit/format.js";

function stateButton(model, place, what, current) {
  const names = namesOf(logOf(model), place).map((name) => quotedName(name, 40));
  const words = names.length > 0 ? `${what} — ${names.join(", ")}` : what;
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
 * A field for the author: `signature()` gives author and minute for edits, both empty without a name.
 * @param {import("../../types").Model} model
 */
export function authorField(model) {
  const input = html("input", { type: "text", class: "dpx-edit-checkpoint", placeholder: "name, for new edits" });
  input.value = logOf(model).entries.at(-1)?.who ?? "";
  const signature = () => {
    const who = input.value.trim();
    return { who, when: who ? `${new Date().toISOString().slice(0, 16).replace("T", " ")} UTC` : "" };
  };
  return { element: html("label", { class: "dpx-edit-author" }, "Signed by ", input), signature };
}

/**
 * A field that names the current state as a checkpoint.
 * @param {import("../../types").Model} model
 */
export function checkpointField(model) {
  const input = html("input", {
    type: "text", class: "dpx-edit-checkpoint", placeholder: "e.g. approved", "aria-label": "Checkpoint name",
  });
  const keep = () => {
    const name = input.value.trim();
    if (!name) return input.focus();
    keepLog(model, named(logOf(model), name));
    input.value = "";
  };
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") keep();
  });
  return html("div", { class: "dpx-controls" }, input, button("Save checkpoint", keep));
}

/**
 * The list; `draw()` fills it from the log, `describe(words)` adds what each edit did.
 * @param {import("../../types").Model} model
 */
export function historyList(model) {
  const list = html("ol", { class: "dpx-edit-history", start: "0" });
  let shown = "";
  let trails = [];
  const draw = () => {
    const log = logOf(model);
    const now = JSON.stringify(log);
    if (now === shown) return;
    shown = now;
    trails = [];
    const current = new Set(pathTo(log));
    const items = log.entries.map((entry, place) => {
      const before = entry.after < 0 ? "as released" : entry.after + 1;
      const branch = entry.after !== place - 1 ? ` (after ${before})` : "";
      const words = `${operationWords(entry.operation)}${branch}${current.has(place) ? "" : " (undone)"}`;
      const item = html("li", { class: current.has(place) ? "" : "dpx-edit-elsewhere" });
      const by = [entry.who, entry.when].filter(Boolean).map((part) => shortName(part, 60)).join(", ");
      trails[place] = html("p", { class: "dpx-note dpx-edit-trail" });
      item.append(stateButton(model, place, words, log.head === place), trails[place],
        html("p", { class: "dpx-note" }, html("bdi", {}, by || "unsigned")), noteField(model, place, entry.note));
      return item;
    });
    list.replaceChildren(html("li", {}, stateButton(model, -1, "as released", log.head < 0)), ...items);
  };
  const describe = (words) => trails.forEach((trail, place) => setText(trail, words.get(place) ?? ""));
  return { element: list, draw, describe };
}

/**
 * A button that saves the log as a file that `dpexplain.io.load` reads.
 * @param {import("../../types").Model} model
 */
export function downloadButton(model) {
  return button("Download edits", () => {
    const file = { format: "dpexplain/edit-log", version: 1, content: logOf(model) };
    download(JSON.stringify(file), "application/json", "edits.json");
  });
}
