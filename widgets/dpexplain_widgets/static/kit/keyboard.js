// Keyboard handling inside a view.
import { listen } from "./dom.js";

function belongsToNotebook(event) {
  const runsCell = event.key === "Enter" && event.shiftKey;
  return event.ctrlKey || event.metaKey || event.altKey || runsCell || event.key === "Escape";
}

// Jupyter ignores shortcuts if the focused element has this.
const NO_COMMANDS = "data-lm-suppress-shortcuts";

/**
 * Hide plain keys from the notebook, whose handler would cancel arrow keys and treat letters as
 * commands on cells. The notebook still gets shortcuts with a modifier, Shift+Enter and Escape.
 * JupyterLab handles keys after the view, Notebook 7 before it, so the attribute must be set
 * before both.
 */
export function shieldKeys(root) {
  const mark = (event) => {
    const target = event.composedPath()[0];
    if (root.contains(target)) target.toggleAttribute(NO_COMMANDS, !belongsToNotebook(event));
  };
  const keep = (event) => {
    if (!belongsToNotebook(event)) event.stopPropagation();
  };
  const stops = [listen(window, "keydown", mark, { capture: true }), listen(root, "keydown", keep)];
  return () => stops.forEach((stop) => stop());
}

const LINE_STEPS = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  PageDown: -5,
  PageUp: 5,
  Home: -Infinity,
  End: Infinity,
};

// In a list, the next item is below.
const LIST_STEPS = { ...LINE_STEPS, ArrowDown: 1, ArrowUp: -1, PageDown: 5, PageUp: -5 };

/**
 * The index that a key moves to among `count` items laid out as a "line" or a "list"; null if
 * the key has no meaning or a modifier. If no item is selected, a step selects an end.
 */
export function indexAfterKey(event, index, count, layout = "line") {
  const step = (layout === "list" ? LIST_STEPS : LINE_STEPS)[event.key];
  if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return null;
  const start = index ?? (step > 0 ? -1 : count);
  if (index === null && event.key === "Home") return 0;
  if (index === null && event.key === "End") return count - 1;
  return Math.max(0, Math.min(count - 1, start + step));
}

/** Whether a key press would be typed into the element that has the focus. */
export function isTyping(event) {
  const typed = ["text", "search", "number"];
  return ["SELECT", "TEXTAREA"].includes(event.target.tagName) || typed.includes(event.target.type);
}
