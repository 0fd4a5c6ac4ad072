// One enlarged map, in which pointer or keyboard select a weight.
import { html, listen, setAttributes, setText } from "../../kit/dom.js";
import { mapPicture } from "./filter_grid.js";
import { signedRows } from "./filter_strip.js";
import { readingOf, shareWords, strongestWords, weightSentence } from "./filter_words.js";
import { indexAfterKey } from "../../kit/keyboard.js";
import { choose } from "../../state/choosing.js";
import { pointerTip } from "../../charts/tip.js";

const LARGEST_PICTURE = 336;

const READ_HINT = "Point, or use arrow keys, to read a weight; drag, or hold Shift, for a claim.";
const READ_ROWS = "Point at a row, or use the arrow keys, to read a weight; click it for a claim.";

/** Reader of a map: the picture or rows, the mark at the selected input, and its numbers. */
export class MapReader {
  constructor(model, { what = "weight", hint = READ_HINT, regions = false } = {}) {
    this.model = model;
    this.regions = regions;
    this.from = null;
    this.what = what;
    this.hint = hint;
    this.hovered = null;
    this.mark = html("div", { class: "dpx-picture-mark", hidden: true });
    this.frame = html("div", { class: "dpx-picture-mark dpx-picture-region", hidden: true });
    this.stage = html("div", { class: "dpx-picture-stage", role: "slider", tabindex: "0" });
    this.tip = pointerTip(this.stage);
    this.heading = html("h4", {});
    this.readout = html("p", { class: "dpx-readout" });
    this.note = html("p", { class: "dpx-note dpx-map-note", hidden: true });
    this.warning = html("p", { class: "dpx-picture-warning", hidden: true });
    const parts = [this.heading, this.stage, this.warning, this.note, this.readout];
    this.element = html("figure", { class: "dpx-map" }, parts);
    this.stops = [
      listen(this.stage, "pointerdown", (event) => this.start(event)),
      listen(this.stage, "pointermove", (event) => this.move(event, this.inputUnder(event))),
      listen(this.stage, "pointerleave", () => this.hover(null)),
      () => this.tip.hide(),
      listen(this.stage, "click", (event) => this.choose(this.inputUnder(event))),
      listen(this.stage, "keydown", (event) => this.handleKey(event)),
    ];
  }

  /**
   * Draw a map under a heading; `warning` is shown prominently, `note` is the sum of the map,
   * `inputs` are the values of a sample, `words` describes the picture.
   */
  draw(view, map, { heading, scale, limit, width, font, warning = "", note = "", inputs = null, words = "" }) {
    this.shown = { view, map, scale, limit, width, font, inputs, words, note };
    setText(this.heading, heading);
    setText(this.note, note);
    this.note.hidden = note === "";
    setText(this.warning, warning);
    this.warning.hidden = warning === "";
    this.stage.classList.toggle("dpx-picture-rows", scale === null);
    this.place(view, map, this.shown);
    this.describe(heading);
  }

  place(view, map, { scale, limit, width, font, inputs }) {
    const masked = view.masked ? map : { ...map, outside: null };
    if (scale !== null) {
      const size = Math.max(96, Math.min(LARGEST_PICTURE, width));
      this.stage.replaceChildren(mapPicture(masked, { ...scale, limit }, size), this.frame, this.mark);
    } else {
      const { outline, masked } = view;
      const cells = inputs === null ? null : Array.from(inputs, (_, i) => readingOf(outline, inputs, i));
      const options = { width: Math.max(240, width), limit, masked, chosen: this.input(), font, cells };
      this.rows = signedRows(map, outline.input_names, options);
      this.stage.replaceChildren(this.rows.element);
    }
  }

  input() {
    return this.hovered ?? this.shown.view.input;
  }

  describe(heading) {
    const { view, map, scale, inputs, note, words: layers } = this.shown;
    const i = this.input();
    const hint = this.regions && scale === null ? READ_ROWS : this.hint;
    const sentence = (place) => weightSentence(view, map, place, this.what, inputs);
    setText(this.readout, i === null ? hint : sentence(i));
    this.readout.hidden = i === null && hint === "";
    this.readout.classList.toggle("dpx-readout-hint", i === null);
    const share = shareWords(map, this.what);
    const words = [heading, layers, share, note && strongestWords(view, map), note].filter(Boolean).join(", ");
    setAttributes(this.stage, {
      "aria-label": words, "aria-valuemin": 1, "aria-valuemax": map.values.length,
      "aria-valuenow": (view.input ?? 0) + 1,
      "aria-valuetext": view.input === null ? words : sentence(view.input),
    });
    this.mark.hidden = i === null || scale === null;
    if (!this.mark.hidden) placeMark(this.mark, scale, [i, i]);
    this.frame.hidden = !this.regions || view.region === null || scale === null;
    if (!this.frame.hidden) placeMark(this.frame, scale, view.region);
  }

  // A mouse or a pen selects a region; a finger scrolls.
  start(event) {
    this.isDragged = false;
    const selects = this.regions && this.shown?.scale && event.button === 0 && event.pointerType !== "touch";
    this.from = selects ? this.inputUnder(event) : null;
  }

  move(event, i) {
    if (event.buttons === 0) this.from = null; // released outside the window, without an event
    this.hover(i);
    if (i === null || this.shown === undefined) this.tip.hide();
    else {
      const { view, map, inputs } = this.shown;
      const [name, ...words] = weightSentence(view, map, i, this.what, inputs).split(": ");
      this.tip.show(event, name, words.join(": "));
    }
    if (this.from === null || i === null || (i === this.from && !this.isDragged)) return;
    this.isDragged = true;
    choose(this.model, { input_range: [this.from, i], input_index: null });
  }

  inputUnder(event) {
    const { scale, map } = this.shown ?? {};
    if (map === undefined) return null;
    const frame = this.stage.getBoundingClientRect();
    if (scale === null) {
      const row = Math.floor((event.clientY - frame.top + this.stage.scrollTop) / this.rows.rowHeight);
      return row >= 0 && row < map.values.length ? row : null;
    }
    const column = Math.floor(((event.clientX - frame.left) / frame.width) * scale.width);
    const row = Math.floor(((event.clientY - frame.top) / frame.height) * scale.rows);
    const found = scale.places.indexOf(row * scale.width + column);
    return found < 0 ? null : found;
  }

  hover(i) {
    if (i === this.hovered || this.shown === undefined) return;
    this.hovered = i;
    const { view, map, scale } = this.shown;
    if (scale === null) this.place(view, map, this.shown);
    this.describe(this.heading.textContent);
  }

  choose(i) {
    if (i === null || this.isDragged) return;
    choose(this.model, { input_index: i === this.shown.view.input ? null : i, input_range: null });
  }

  handleKey(event) {
    const { view, map, scale } = this.shown ?? {};
    if (map === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = scale === null
      ? indexAfterKey(event, view.input, map.values.length, "list")
      : pixelAfterKey(event, view.input, scale);
    if (next === null) return;
    event.preventDefault();
    const { region, input } = view;
    const grows = this.regions && event.shiftKey && scale !== null && region !== null;
    const range = grows ? [input === region[0] ? region[1] : region[0], next] : null;
    choose(this.model, { input_index: next, input_range: range });
    if (scale === null) this.scrollTo(next);
  }

  scrollTo(i) {
    const { rowHeight } = this.rows;
    const { scrollTop, clientHeight } = this.stage;
    const [top, bottom] = [i * rowHeight, (i + 1) * rowHeight];
    if (top < scrollTop) this.stage.scrollTop = top;
    if (bottom > scrollTop + clientHeight) this.stage.scrollTop = bottom - clientHeight;
  }

  destroy() {
    for (const stop of this.stops) stop();
  }
}

/** A frame around the rectangle between two inputs. */
export function regionFrame(scale, corners) {
  const frame = html("div", { class: "dpx-picture-mark dpx-picture-region" });
  placeMark(frame, scale, corners);
  return frame;
}

/** Put a mark over the rectangle between two inputs. */
function placeMark(mark, { places, width, rows }, corners) {
  const [top, bottom] = corners.map((i) => Math.floor(places[i] / width)).sort((a, b) => a - b);
  const [left, right] = corners.map((i) => places[i] % width).sort((a, b) => a - b);
  Object.assign(mark.style, {
    left: `${(100 * left) / width}%`,
    top: `${(100 * top) / rows}%`,
    width: `${(100 * (right - left + 1)) / width}%`,
    height: `${(100 * (bottom - top + 1)) / rows}%`,
  });
}

const PIXEL_STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/** The input to which a key moves in a picture; null for other keys. */
export function pixelAfterKey(event, i, { places, width, rows }) {
  if (event.key === "Home") return 0;
  if (event.key === "End") return places.length - 1;
  const step = PIXEL_STEPS[event.key];
  if (step === undefined) return null;
  if (i === null) return places.indexOf(Math.floor(rows / 2) * width + Math.floor(width / 2));
  const within = (value, count) => Math.max(0, Math.min(count - 1, value));
  const row = within(Math.floor(places[i] / width) + step[0], rows);
  const column = within((places[i] % width) + step[1], width);
  return places.indexOf(row * width + column);
}
