// A long list of which only the rows in sight exist.
import { html, listen } from "./dom.js";

const OVERSCAN = 4;
const WHOLE_UP_TO = 40;

/** Which rows are in sight: [first, last + 1]. */
export function rowsInSight(count, height, scrollTop, viewHeight) {
  if (count <= WHOLE_UP_TO) return [0, count];
  const first = Math.max(0, Math.floor(scrollTop / height) - OVERSCAN);
  return [first, Math.min(count, Math.ceil((scrollTop + viewHeight) / height) + OVERSCAN)];
}

/**
 * Rows of one height inside a box that scrolls. `draw(keys, drawRow)` shows a row for each key;
 * `makeRow(key)` makes its element once. `reveal(place)` scrolls a row into sight, and draws it.
 */
export class Rows {
  constructor(box, height, makeRow) {
    this.box = box;
    this.height = height;
    this.makeRow = makeRow;
    this.made = new Map();
    this.keys = [];
    this.drawRow = () => {};
    const tag = box.tagName === "UL" ? "li" : "div";
    this.above = html(tag, { class: "dpx-space", role: "presentation" });
    this.below = html(tag, { class: "dpx-space", role: "presentation" });
    this.stop = listen(box, "scroll", () => this.show());
  }

  draw(keys, drawRow) {
    this.keys = keys;
    this.drawRow = drawRow;
    this.show(true);
  }

  /** The element of the row at a place, which is made where it was not in sight. */
  rowAt(place) {
    return this.element(this.keys[place]);
  }

  element(key) {
    if (!this.made.has(key)) this.made.set(key, this.makeRow(key));
    return this.made.get(key);
  }

  show(always = false) {
    const { scrollTop, clientHeight } = this.box;
    const [first, end] = rowsInSight(this.keys.length, this.height, scrollTop, clientHeight || 400);
    if (!always && first === this.first && end === this.end) return;
    [this.first, this.end] = [first, end];
    this.above.style.height = `${first * this.height}px`;
    this.below.style.height = `${(this.keys.length - end) * this.height}px`;
    const shown = this.keys.slice(first, end).map((key) => this.element(key));
    const wanted = [this.above, ...shown, this.below];
    const current = Array.from(this.box.children);
    if (wanted.length !== current.length || wanted.some((row, k) => row !== current[k])) {
      this.replace(wanted, scrollTop);
    }
    this.keys.slice(first, end).forEach((key, k) => this.drawRow(key, first + k));
  }

  // Rows that stay are not touched, so that one of them keeps the focus. While rows are exchanged
  // the content may be too short for where the box is scrolled to.
  replace(wanted, scrollTop) {
    const kept = new Set(wanted);
    for (const row of Array.from(this.box.children)) if (!kept.has(row)) row.remove();
    wanted.forEach((row, k) => {
      if (this.box.children[k] !== row) this.box.insertBefore(row, this.box.children[k] ?? null);
    });
    if (this.box.scrollTop !== scrollTop) this.box.scrollTop = scrollTop;
  }

  reveal(place) {
    const [top, bottom] = [place * this.height, (place + 1) * this.height];
    const { scrollTop, clientHeight } = this.box;
    if (top < scrollTop) this.box.scrollTop = top;
    if (bottom > scrollTop + clientHeight) this.box.scrollTop = bottom - clientHeight;
    this.show();
  }

  forget() {
    this.made.clear();
  }

  destroy() {
    this.stop();
  }
}
