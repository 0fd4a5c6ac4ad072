// Small charts of all terms: twelve at a time, each with its own axis.
import { button } from "../../kit/controls.js";
import { termCurves } from "../../charts/curves.js";
import { html, listen, setAttributes, setText } from "../../kit/dom.js";
import { quotedName, shortName } from "../../kit/format.js";
import { drawSmallHeatMap } from "./heat_map.js";
import { indexAfterKey } from "../../kit/keyboard.js";
import { drawSmallShape } from "./small_shape.js";
import { choose } from "../../state/choosing.js";
import { CHOICE_KEYS, NO_BINS, chooseTerm, drawOnChange, readState } from "../../state/state.js";
import { offerTable } from "../../kit/table.js";
import { LIST_KEYS, listControls, listedTerms } from "../../state/term_list.js";
import { fontOf } from "../../kit/text.js";
import { creatorOf, observeWidth } from "../../kit/view.js";
import { allTermsTable } from "../../export/view_tables.js";
import { atFitWords, binsInsideNoise, scoreWords } from "../../kit/words.js";

/** Pictures on a page: 3 × 4, as in the figures of Nori et al. (2021). */
export const PAGE_SIZE = 12;
const BAND_WORDS = {
  released: "the band is noise",
  both: "the blue band is noise, the dashed line and its band are the estimated effect in the population",
  effect: "dashed lines and their bands are the estimated effect in the population",
};
const NARROWEST = 190;
const SMALL_HEAT_HEIGHT = 104;

/** The part of a list on a page: {page, pages, from, to}; `page` is at most the last. */
export function pageOf(count, wanted, size = PAGE_SIZE) {
  const pages = Math.max(1, Math.ceil(count / size));
  const page = Math.max(0, Math.min(pages - 1, wanted));
  return { page, pages, from: page * size, to: Math.min(count, (page + 1) * size) };
}

function noiseText(termFit) {
  if (termFit.absent) return "not in this model";
  if (termFit.above_noise === false) return "does not rise above the noise";
  const inside = binsInsideNoise(termFit);
  const bins = termFit.axes ? "cells" : "bins";
  return inside === null ? "" : `${inside} of ${termFit.labels.length} ${bins} may be noise`;
}

class Multiples {
  constructor(model, host, { standalone = false } = {}) {
    this.model = model;
    this.width = 0;
    this.cells = [];
    this.controls = standalone ? listControls(model) : null;
    this.build(host);
    this.stops = [
      drawOnChange(model, [...CHOICE_KEYS, ...LIST_KEYS, "page_index"], () => this.draw()),
      observeWidth(this.grid, (width) => this.resize(width)),
      listen(this.grid, "keydown", (event) => this.handleKey(event)),
    ];
    this.draw();
  }

  build(host) {
    this.about = html("p", { class: "dpx-note" });
    this.grid = html("ul", { class: "dpx-multiples", role: "listbox", "aria-label": "Small charts of all terms" });
    this.mark = html("p", { class: "dpx-rank-mark" }, "not releasable: dashed is the non-private reference");
    this.back = button("‹ Previous", () => this.turn(-1));
    this.next = button("Next ›", () => this.turn(1));
    this.place = html("span", { role: "status" });
    this.pages = html("div", { class: "dpx-controls" }, this.back, this.place, this.next);
    host.append(
      offerTable(html("header", { class: "dpx-head" }, html("h3", {}, "All terms"), this.pages),
        () => allTermsTable(this.state, this.listed)),
      this.about, ...[this.controls?.element].filter(Boolean), this.grid, this.mark,
    );
  }

  resize(width) {
    this.width = width;
    this.font = fontOf(this.grid);
    this.draw();
  }

  draw() {
    const state = readState(this.model);
    if (state.term === undefined) return;
    this.state = state;
    this.controls?.draw(state);
    this.listed = listedTerms(this.model, state);
    this.shown = pageOf(this.listed.length, this.model.get("page_index") ?? 0);
    this.mark.hidden = state.reference === null || state.atReference;
    this.drawPages();
    const layer = state.fit.terms.some((term) => term.effect && !term.axes) ? state.shownCurve : "released";
    const what = `Contributions ${atFitWords(state)} to ${scoreWords(state.payload)}`;
    setText(this.about, `${what}, each term on its own axis; ` +
      `${BAND_WORDS[layer]}. Click to select a term; press Enter or double-click to open it.`);
    if (this.width < 40) return;
    this.columns = Math.max(1, Math.min(4, Math.floor((this.width + 12) / (NARROWEST + 12))));
    this.grid.style.setProperty("--dpx-small-columns", String(this.columns));
    const cell = Math.floor((this.width - 12 * (this.columns - 1)) / this.columns) - 14;
    const places = this.listed.slice(this.shown.from, this.shown.to);
    const focused = Array.from(this.grid.children).indexOf(document.activeElement);
    const tabStop = places.includes(state.termIndex) ? state.termIndex : places[0];
    while (this.cells.length < places.length) this.cells.push(this.cell(this.cells.length));
    places.forEach((i, k) => this.fill(this.cells[k], i, cell, i === tabStop));
    if (this.grid.children.length !== places.length) {
      this.grid.replaceChildren(...this.cells.slice(0, places.length).map(({ element }) => element));
    }
    if (focused >= 0) (this.grid.querySelector("[tabindex='0']") ?? this.grid).focus({ preventScroll: true });
  }

  drawPages() {
    const { page, pages, from, to } = this.shown;
    this.pages.hidden = pages < 2;
    this.back.disabled = page === 0;
    this.next.disabled = page === pages - 1;
    setText(this.place, `${from + 1}–${to} of ${this.listed.length}`);
  }

  /** A cell of the grid; it is reused, because new elements at every epsilon would take time. */
  cell(place) {
    const name = html("bdi", { class: "dpx-small-name" });
    const note = html("span", { class: "dpx-note dpx-small-note" });
    const picture = html("span");
    const element = html("li", { role: "option" }, name, picture, note);
    const shown = () => this.listed[this.shown.from + place];
    element.addEventListener("click", () => chooseTerm(this.model, this.state.payload.terms[shown()].name));
    element.addEventListener("dblclick", () => this.open(shown()));
    return { element, name, note, picture, place };
  }

  fill(cell, i, width, isTabStop) {
    const { state } = this;
    const { name: termName } = state.payload.terms[i];
    const name = shortName(termName, 200);
    const noise = noiseText(state.fit.terms[i]);
    const chosen = i === state.termIndex;
    setAttributes(cell.element, {
      class: `dpx-small ${chosen ? "dpx-small-chosen" : ""}`, tabindex: isTabStop ? "0" : "-1",
      "aria-selected": String(chosen), "aria-label": `${quotedName(name, 120)}${noise ? `, ${noise}` : ""}`,
      "aria-posinset": this.shown.from + cell.place + 1, "aria-setsize": this.listed.length,
    });
    setText(cell.name, name);
    cell.name.title = shortName(termName, 500);
    setText(cell.note, noise);
    const picture = this.picture(i, width, cell.picture);
    if (picture !== cell.picture) cell.picture.replaceWith(picture);
    cell.picture = picture;
  }

  picture(i, width, before) {
    const { state } = this;
    const term = state.payload.terms[i];
    const curves = termCurves({ ...state, termIndex: i }).filter(({ role }) => role !== "repeat");
    const pictures = {
      pair: (root) => drawSmallHeatMap({ termFit: curves.at(-1).termFit, width, height: SMALL_HEAT_HEIGHT, root }),
    };
    const everyFit = state.payload.fits.flat().map((fit) => fit.terms[i]);
    const curve = () => drawSmallShape({ term, curves, everyFit, width, font: this.font }, before);
    return (pictures[term.kind] ?? curve)(this.grid.closest(".dpx") ?? this.grid);
  }

  open(i) {
    const moved = i === this.state.termIndex ? {} : NO_BINS;
    choose(this.model, { ...moved, term: this.state.payload.terms[i].name, tab: "shape", small_multiples: false });
  }

  turn(by) {
    choose(this.model, { page_index: this.shown.page + by });
  }

  handleKey(event) {
    const cells = Array.from(this.grid.children);
    const focused = cells.indexOf(document.activeElement);
    if (focused < 0) return;
    const i = this.listed[this.shown.from + focused];
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      if (event.key === "Enter") this.open(i);
      else chooseTerm(this.model, this.state.payload.terms[i].name);
      return;
    }
    const rows = { ArrowDown: this.columns, ArrowUp: -this.columns };
    const byRow = event.key in rows && !event.ctrlKey && !event.altKey && !event.metaKey;
    const next = byRow ? focused + rows[event.key] : indexAfterKey(event, focused, cells.length);
    if (next === null) return;
    event.preventDefault();
    if (next < 0 || next >= cells.length) return;
    cells[next].focus();
    chooseTerm(this.model, this.state.payload.terms[this.listed[this.shown.from + next]].name);
  }

  destroy() {
    for (const stop of this.stops) stop();
  }
}

/** Put the small charts into a host. */
export const createMultiples = creatorOf(Multiples);

