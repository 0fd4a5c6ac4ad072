// A long list that creates only its visible rows.
import { html, listen } from "./dom.js";

const OVERSCAN = 4;
const WHOLE_UP_TO = 40;
const PADDING = 8; // at most, of a box around its rows

/** Visible rows: [first, last + 1]. */
export function rowsInSight(count, height, scrollTop, viewHeight) {
  if (count <= WHOLE_UP_TO) return [0, count];
  const first = Math.max(0, Math.floor(scrollTop / height) - OVERSCAN);
  return [first, Math.min(count, Math.ceil((scrollTop + viewHeight) / height) + OVERSCAN)];
}

/**
 * Rows of equal height in a scrolling box, or in a box inside a scrolling box.
 * `draw(keys, drawRow)` shows a row for each key; `makeRow(key)` makes its element once.
 * `reveal(place)` scrolls a row into view and draws it.
 */
export class Rows {
  constructor(box, height, makeRow, scroller = box) {
    this.box = box;
    this.scroller = scroller;
    this.height = height;
    this.makeRow = makeRow;
    this.made = new Map();
    this.keys = [];
    this.first = 0;
    this.end = 0;
    /** @type {(key: number, place: number) => void} */
    this.drawRow = () => {};
    const tag = box.tagName === "UL" ? "li" : "div";
    this.above = html(tag, { class: "dpx-space", role: "presentation" });
    this.below = html(tag, { class: "dpx-space", role: "presentation" });
    this.sight = { scrollTop: 0, clientHeight: 0 };
    const stopListening = listen(scroller, "scroll", () => this.look());
    const observer = new ResizeObserver(() => this.look());
    observer.observe(scroller);
    this.stop = () => {
      stopListening();
      observer.disconnect();
    };
  }

  // Measured here, not while drawing, because it forces the browser to lay out the page.
  look() {
    const { scrollTop, clientHeight } = this.scroller;
    this.sight = { scrollTop, clientHeight };
    this.show();
  }

  draw(keys, drawRow) {
    this.keys = keys;
    this.drawRow = drawRow;
    this.show(true);
  }

  /** The element of the row at an index, created if it was not visible. */
  rowAt(place) {
    return this.element(this.keys[place]);
  }

  element(key) {
    if (!this.made.has(key)) this.made.set(key, this.makeRow(key));
    return this.made.get(key);
  }

  show(always = false) {
    const { scrollTop, clientHeight } = this.sight;
    const [first, end] = rowsInSight(this.keys.length, this.height, scrollTop, clientHeight || 400);
    if (!always && first === this.first && end === this.end) return;
    [this.first, this.end] = [first, end];
    this.above.style.height = `${first * this.height}px`;
    this.below.style.height = `${(this.keys.length - end) * this.height}px`;
    const shown = this.keys.slice(first, end).map((key) => this.element(key));
    const wanted = [this.above, ...shown, this.below];
    const current = Array.from(this.box.children);
    if (wanted.length !== current.length || wanted.some((row, k) => row !== current[k])) {
      this.replace(wanted, this.scroller.scrollTop);
    }
    this.keys.slice(first, end).forEach((key, k) => this.drawRow(key, first + k));
  }

  // Rows that stay are not moved, so the focus is kept. While rows are replaced,
  // the content may be too short for the scroll position.
  replace(wanted, scrollTop) {
    const kept = new Set(wanted);
    for (const row of Array.from(this.box.children)) if (!kept.has(row)) row.remove();
    wanted.forEach((row, k) => {
      if (this.box.children[k] !== row) this.box.insertBefore(row, this.box.children[k] ?? null);
    });
    if (this.scroller.scrollTop !== scrollTop) this.scroller.scrollTop = scrollTop;
  }

  reveal(place) {
    const [top, bottom] = [place * this.height, (place + 1) * this.height + PADDING];
    const { scrollTop, clientHeight } = this.scroller;
    if (top < scrollTop) this.scroller.scrollTop = top;
    if (bottom > scrollTop + clientHeight) this.scroller.scrollTop = bottom - clientHeight;
    this.look();
  }

  forget() {
    this.made.clear();
  }

  destroy() {
    this.stop();
  }
}
