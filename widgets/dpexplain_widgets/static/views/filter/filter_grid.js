// A grid of classes by epsilon, with the reference; cells are chosen by pointer or keyboard.
import { html, listen } from "../../kit/dom.js";
import { drawPicture } from "./filter_picture.js";
import { columnWords, mapWords, shareWords } from "./filter_words.js";
import { shortName } from "../../kit/format.js";
import { choose } from "../../state/choosing.js";
import { signedStrip } from "./filter_strip.js";

const CELL = { picture: 64, strip: 185, smallest: 28, names: 110, stripHeight: 52, gap: 12 };

const ARROWS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/** Width of a cell, so that all columns fit into `width` if possible. */
export function cellWidth(width, columns, onGrid) {
  const room = (width - CELL.names) / columns - CELL.gap;
  const largest = onGrid ? CELL.picture : CELL.strip;
  return Math.floor(Math.max(CELL.smallest, Math.min(largest, room)));
}

export class FilterGrid {
  constructor(model) {
    this.model = model;
    this.drawn = "";
    this.seen = null;
    this.count = 0;
    const named = { role: "grid", "aria-label": "Filters by class and epsilon" };
    this.table = html("table", { class: "dpx-filter-table", ...named });
    this.element = html("div", { class: "dpx-filter-grid" }, this.table);
    this.stops = [
      listen(this.table, "click", (event) => this.pick(event.target.closest("[data-column]"))),
      listen(this.table, "keydown", (event) => this.handleKey(event)),
    ];
  }

  /** Redraw what has changed; cells only if one of them changes. */
  draw(view, scale, width) {
    const signature = this.signatureOf(view, scale, width);
    const anew = signature !== this.drawn;
    const focused = anew && this.table.contains(document.activeElement);
    if (anew) {
      this.drawn = signature;
      this.build(view, scale, width);
    }
    this.mark(view);
    if (focused) this.table.querySelector("[aria-selected=true]")?.focus();
  }

  signatureOf(view, scale, width) {
    const { choice, masked, limit, everyEpsilon, columns, state } = view;
    const own = everyEpsilon ? 0 : state.stop;
    const looks = [choice, masked, limit, own, scale?.theme ?? "", width];
    return JSON.stringify([...looks, columns.length, state.repeat, this.version(view)]);
  }

  // A number identifies each payload object.
  version({ outline }) {
    if (this.seen !== outline) [this.seen, this.count] = [outline, this.count + 1];
    return this.count;
  }

  build(view, scale, width) {
    const { outline, columns, choice } = view;
    const { kind, against, m, minus } = choice;
    const itself = kind === "contrast" ? "mean filter" : kind === "filter" && m === minus ? `filter ${m}` : "";
    const cell = cellWidth(width, columns.length, outline.grid_shape !== null);
    const heads = columns.map((_, column) => this.head(view, column));
    const corner = html("th", { scope: "col", class: "dpx-filter-corner" }, "class");
    const rows = outline.classes.map((name, k) =>
      html(
        "tr", { role: "row" },
        html("th", { scope: "row", role: "rowheader", title: shortName(name, 500) },
          html("bdi", {}, shortName(name, 16)),
          against === k && itself !== "" ? html("span", { class: "dpx-tile-words" }, itself) : null),
        columns.map((fit, column) => this.cell(view, scale, cell, k, column)),
      ),
    );
    this.table.replaceChildren(
      html("thead", {}, html("tr", { role: "row" }, corner, heads)), html("tbody", {}, rows),
    );
  }

  head(view, column) {
    const reference = column >= view.state.payload.epsilons.length;
    const words = columnWords(view, column);
    const note = reference ? html("span", { class: "dpx-filter-warning" }, "not releasable") : null;
    const attributes = { scope: "col", role: "columnheader", class: reference ? "dpx-reference-text" : null };
    return html("th", attributes, html("span", {}, words), note);
  }

  cell(view, scale, size, k, column) {
    const { data, columns, choice, masked, limit } = view;
    const map = data.map(columns[column], choice, k);
    const own = view.everyEpsilon ? limit : data.limit([columns[column]], choice);
    const shown = masked ? map : { ...map, outside: null };
    const reference = column >= view.state.payload.epsilons.length;
    const attributes = {
      role: "gridcell", "data-class": k, "data-column": column, tabindex: "-1",
      class: `dpx-filter-cell${reference ? " dpx-filter-reference" : ""}`,
      "aria-label": [mapWords(view, k), columnWords(view, column), shareWords(map)].filter(Boolean).join(", "),
    };
    const picture = scale === null
      ? signedStrip(map, { width: size, height: CELL.stripHeight, limit: own, masked })
      : mapPicture(shown, { ...scale, limit: own }, size);
    return html("td", attributes, html("div", { class: "dpx-tile-picture" }, picture));
  }

  mark({ k, state }) {
    for (const cell of this.table.querySelectorAll("[data-column]")) {
      const chosen = Number(cell.dataset.class) === k && Number(cell.dataset.column) === state.stop;
      cell.setAttribute("aria-selected", String(chosen));
      cell.tabIndex = chosen ? 0 : -1;
      const near = Number(cell.dataset.column) === state.stop;
      cell.classList.toggle("dpx-filter-near", near);
    }
  }

  pick(cell) {
    if (cell === null) return;
    const payload = this.model.get("payload");
    choose(this.model, {
      filter_class: payload.filters.classes[Number(cell.dataset.class)],
      epsilon_index: Number(cell.dataset.column),
    });
  }

  handleKey(event) {
    const cell = event.target.closest("[data-column]");
    const step = ARROWS[event.key];
    if (cell === null || step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const [k, column] = [Number(cell.dataset.class) + step[0], Number(cell.dataset.column) + step[1]];
    const next = this.table.querySelector(`[data-class="${k}"][data-column="${column}"]`);
    if (next === null) return;
    this.pick(next);
    next.focus();
  }

  destroy() {
    for (const stop of this.stops) stop();
  }
}

/** A canvas with the picture of a map, `size` pixels wide on the page. */
export function mapPicture(map, scale, size) {
  const canvas = html("canvas", { class: "dpx-picture", "aria-hidden": "true" });
  drawPicture(canvas, map, scale);
  canvas.style.width = `${size}px`;
  canvas.style.height = `${Math.max(1, Math.round((size * scale.rows) / scale.width))}px`;
  return canvas;
}
