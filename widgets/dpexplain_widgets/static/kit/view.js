// The frame around every view: theme, keys, announcements and cleanup.
import { html, listen, setText } from "./dom.js";
import { isTyping, shieldKeys } from "./keyboard.js";
import { addFigure } from "../export/figure.js";
import { addSaveBar } from "../export/save.js";
import { drawOnChange, readState, toggleReference } from "../state/state.js";
import { followTheme } from "./theme.js";
import { fitWords } from "./words.js";

// A theme replaces its style sheets in several steps, without an event.
const SETTLED_AFTER_MS = [100, 500, 1500];

/** Call back after style changes of the page, and again later. Returns a function that stops it. */
function afterStyleChanges(callback) {
  let timers = [];
  const forget = () => timers.splice(0).forEach(clearTimeout);
  const restart = () => {
    forget();
    timers = SETTLED_AFTER_MS.map((delay) => setTimeout(callback, delay));
  };
  // JupyterLab replaces its icon in the head whenever a kernel is busy, which changes no style.
  const isStyle = (node) => node.matches?.("style, link[rel~=stylesheet]");
  const observer = new MutationObserver((records) => {
    const changed = ({ type, addedNodes, removedNodes }) =>
      type === "attributes" || [...addedNodes, ...removedNodes].some(isStyle);
    if (records.some(changed)) restart();
  });
  observer.observe(document.head, { childList: true });
  observer.observe(document.body, {
    attributes: true, attributeFilter: ["class", "style", "data-jp-theme-name"],
  });
  const stopLoads = listen(document, "load", restart, { capture: true });
  return () => {
    forget();
    observer.disconnect();
    stopLoads();
  };
}

/** Report the width of an element soon, and whenever it changes. */
export function observeWidth(element, onWidth) {
  let last = -1;
  let frame = 0;
  const widthNow = () => {
    const style = getComputedStyle(element);
    const padding = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight);
    return Math.floor(element.clientWidth - padding);
  };
  const measureNextFrame = () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(measure);
  };
  const measure = () => {
    const width = widthNow();
    if (width === last || !(width > 0)) return; // not a number before the element is in the page
    last = width;
    onWidth(width);
    // A size may be temporary, and a return to the previously reported size is not
    // reported.
    measureNextFrame();
  };
  queueMicrotask(measure); // when a tab is created, its first frame shows its chart
  // Drawing inside the callback would change sizes while they are being observed. The height, which changes more
  // often, needs no frame.
  const observer = new ResizeObserver(() => {
    if (widthNow() !== last) measureNextFrame();
  });
  observer.observe(element);
  const stopStyles = afterStyleChanges(measureNextFrame);
  return () => {
    stopStyles();
    observer.disconnect();
    cancelAnimationFrame(frame);
  };
}

function announceEpsilon(model, root) {
  const status = html("p", { class: "dpx-announcement", "aria-live": "polite", role: "status" });
  root.append(status);
  const announce = () => {
    const state = readState(model);
    if (state.fit === undefined) return;
    const what = fitWords(state);
    const reference = state.reference ? "reference shown" : "reference hidden";
    const about = state.payload.reference === null ? what : `${what}, ${reference}`;
    setText(status, about);
  };
  return drawOnChange(model, ["epsilon_index", "show_reference"], announce);
}

function toggleOnKey(model, root) {
  return listen(root, "keydown", (event) => {
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.repeat;
    if (plain && event.key === "r" && !isTyping(event)) toggleReference(model);
  });
}

/** Hide the table and picture that a notebook keeps beside the view, while the view runs. */
function hideStill(root, model) {
  const name = model.get("_still");
  if (!name) return;
  root.append(html("style", {}, `[data-dpx-still="${name}"] { display: none; }`));
}

/**
 * Put a view into `el`. `create(model, host, options)` fills the host and returns a function
 * that removes the view. Returns a function that removes everything.
 * @param {import("../types").Model} model
 */
function mountView(name, create, model, el) {
  const host = html("section", { class: `dpx-panel dpx-${name}` });
  const root = html("div", { class: "dpx" }, host);
  el.append(root);
  hideStill(root, model);
  const stops = [
    followTheme(root),
    toggleOnKey(model, root),
    shieldKeys(root),
    announceEpsilon(model, root),
    create(model, host, { standalone: true }),
    addFigure(root, model),
    addSaveBar(root, model),
  ];
  return () => {
    for (const stop of stops) stop();
    root.remove();
  };
}

/** Make the function that puts a panel into a host, and that returns a function to end it. */
export function creatorOf(Panel) {
  return (model, host, options) => {
    const panel = new Panel(model, host, options);
    return () => panel.destroy();
  };
}

/** What anywidget expects as the default export of a view. */
export function viewWidget(name, create) {
  return { render: ({ model, el }) => mountView(name, create, model, el) };
}
