// Evidence for a class in one sample, at every epsilon and in the reference.
import { html, listen, setText } from "../../kit/dom.js";
import { drawPicture } from "./filter_picture.js";
import { signedStrip } from "./filter_strip.js";
import { columnWords, shareWords } from "./filter_words.js";
import { quotedName, shareEquation } from "../../kit/format.js";
import { indexAfterKey } from "../../kit/keyboard.js";
import { choose } from "../../state/choosing.js";

const EPSILON_TILE = { picture: 96, strip: 185, stripHeight: 52 };

export class FilterEpsilons {
  constructor(model) {
    this.model = model;
    this.heading = html("h4", {});
    this.list = html("div", { class: "dpx-filter-epsilons", role: "listbox", "aria-orientation": "horizontal" });
    this.element = html("div", { class: "dpx-map" }, this.heading, this.list);
    this.tiles = [];
    this.stops = [
      listen(this.list, "click", (event) => this.pick(event.target.closest("[role=option]"))),
      listen(this.list, "keydown", (event) => this.handleKey(event)),
    ];
  }

  /** Draw a column for each of `maps`, with `limits` as the ends of their scales. */
  draw(view, maps, limits, scale) {
    const { outline, columns, state, k, data, sample: n, masked } = view;
    this.element.hidden = columns.length < 2;
    if (this.element.hidden) return;
    const name = `“${quotedName(outline.classes[k], 24)}”`;
    setText(this.heading, `Evidence for ${name} at every ε`);
    this.list.setAttribute("aria-label", `Evidence for ${name} at every epsilon`);
    this.prepare(columns.length, scale !== null);
    maps.forEach((map, column) => {
      const tile = this.tiles[column];
      const shown = masked ? map : { ...map, outside: null };
      if (scale !== null) drawPicture(tile.canvas, shown, { ...scale, limit: limits[column] });
      else {
        const room = { width: EPSILON_TILE.strip, height: EPSILON_TILE.stripHeight };
        tile.frame.replaceChildren(signedStrip(map, { ...room, limit: limits[column], masked }));
      }
      const share = data.sample(columns[column], n).probabilities[k];
      this.name(tile, view, { column, map, share, chosen: column === state.stop });
    });
  }

  prepare(count, onGrid) {
    if (this.tiles.length === count && this.onGrid === onGrid) return;
    this.onGrid = onGrid;
    this.tiles = Array.from({ length: count }, () => {
      const canvas = onGrid ? html("canvas", { class: "dpx-picture", "aria-hidden": "true" }) : null;
      if (canvas !== null) canvas.style.width = `${EPSILON_TILE.picture}px`;
      const frame = html("div", { class: "dpx-tile-picture" }, canvas);
      const [caption, share, note] = [html("strong"), html("span"), html("span")];
      const words = html("span", { class: "dpx-tile-words" }, caption, share, note);
      const element = html("div", { role: "option", class: "dpx-filter-tile" }, frame, words);
      return { canvas, frame, caption, share, note, element };
    });
    this.list.replaceChildren(...this.tiles.map((tile) => tile.element));
  }

  name(tile, view, { column, map, share, chosen }) {
    const words = columnWords(view, column);
    const reference = column >= view.state.payload.epsilons.length;
    const open = reference || !view.samples.public ? "not releasable" : "";
    setText(tile.caption, words);
    setText(tile.share, shareEquation("P", share, 2));
    setText(tile.note, open);
    tile.element.classList.toggle("dpx-filter-reference", reference && !chosen);
    tile.element.setAttribute("aria-selected", String(chosen));
    tile.element.tabIndex = chosen ? 0 : -1;
    const parts = [words, shareEquation("probability", share, 2), shareWords(map, "contribution"), open];
    tile.element.setAttribute("aria-label", parts.filter(Boolean).join(", "));
  }

  pick(element) {
    const column = this.tiles.findIndex((tile) => tile.element === element);
    if (column >= 0) choose(this.model, { epsilon_index: column });
  }

  handleKey(event) {
    const places = this.tiles.map((tile) => tile.element);
    const next = indexAfterKey(event, places.indexOf(document.activeElement), places.length, "list");
    if (next === null || !places.includes(document.activeElement)) return;
    event.preventDefault();
    this.pick(places[next]);
    places[next].focus();
  }

  destroy() {
    for (const stop of this.stops) stop();
  }
}
