// Elements of the page. Text is always added as text nodes, so names of features or categories
// cannot become markup.

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

/** Set attributes of an element, except those that are null, undefined or false, and append children. */
export function setAttributes(element, attributes, children = []) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) throw new Error(`use addEventListener instead of ${name}`);
    element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(2)) {
    if (child !== null && child !== undefined) element.append(child);
  }
  return element;
}

/** An HTML element with attributes and children (nodes or strings). */
export function html(tag, attributes = {}, ...children) {
  return setAttributes(document.createElement(tag), attributes, children);
}

/** An SVG element with attributes and children (nodes or strings). */
export function svg(tag, attributes = {}, ...children) {
  return setAttributes(document.createElementNS(SVG_NAMESPACE, tag), attributes, children);
}

/** A name as nodes that may break before capitals of camel case, and after underscores, slashes and points. */
export function breakable(text) {
  const words = text.split(/(?<=[a-z])(?=[A-Z])|(?<=[_/.])/);
  return words.flatMap((word, i) => (i === 0 ? [word] : [html("wbr"), word]));
}

/** Change text only if it differs, so that live regions do not repeat themselves. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * Elements that say less about the non-private reference keep their height while it is shown, so that nothing below
 * them moves. Call the result before each drawing: going there or back, it measures what is still drawn.
 * @param {HTMLElement[]} elements
 */
export function keepHeights(elements) {
  let kept = false;
  return (atReference) => {
    if (atReference === kept) return;
    kept = atReference;
    const heights = elements.map((element) => (kept ? `${element.getBoundingClientRect().height}px` : ""));
    elements.forEach((element, k) => { element.style.minHeight = heights[k]; });
  };
}

/** An id that no other view of the page has, for patterns, clip paths and labels. */
export function uniqueId(kind) {
  const words = crypto.getRandomValues(new Uint32Array(2));
  return `dpx-${kind}-${Array.from(words, (word) => word.toString(36)).join("")}`;
}

/** Debounce slow drawing: `ask()` calls `draw` once after the next frame, until `stop()`. */
export function afterNextFrame(draw) {
  let [frame, timer] = [null, null];
  const ask = () => {
    if (frame !== null || timer !== null) return;
    frame = requestAnimationFrame(() => {
      frame = null;
      timer = setTimeout(() => {
        timer = null;
        draw();
      });
    });
  };
  const stop = () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
  };
  return { ask, stop };
}

/** Listen until the returned function is called. */
export function listen(target, type, listener, options) {
  target.addEventListener(type, listener, options);
  return () => target.removeEventListener(type, listener, options);
}
