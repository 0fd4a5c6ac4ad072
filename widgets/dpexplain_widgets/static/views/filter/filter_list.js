// All filters of one class at one epsilon, to browse and choose from.
import { html, listen, setText } from "../../kit/dom.js";
import { drawPicture } from "./filter_picture.js";
import { signedStrip } from "./filter_strip.js";
import { readFilters } from "./filter_state.js";
import { formatNumber, formatShare, quotedName } from "../../kit/format.js";
import { indexAfterKey } from "../../kit/keyboard.js";
import { choose } from "../../state/choosing.js";

const TILE = { picture: 56, strip: 132, stripHeight: 40 };

export class FilterList {
  constructor(model) {
    this.model = model;
    this.tiles = [];
    this.heading = html("h4", {});
    this.note = html("p", { class: "dpx-note" });
    this.list = html("div", { class: "dpx-filter-tiles", role: "listbox", "aria-label": "Filters of the class" });
    this.element = html("div", { class: "dpx-filter-list" }, this.heading, this.note, this.list);
    this.stops = [
      listen(this.list, "click", (event) => {
        const tile = event.target.closest("[role=option]");
        if (event.ctrlKey || event.metaKey) this.compare(tile);
        else this.pick(tile);
      }),
      listen(this.list, "keydown", (event) => this.handleKey(event)),
    ];
  }

  draw(view, scale, shares = null) {
    const { data, filters, k, outline, choice, masked } = view;
    const order = data.order(filters, k, view.sorted);
    const limit = view.everyEpsilon ? data.limit(view.columns, { kind: "filter" }) : filters.limits.filter;
    this.prepare(order.length, scale !== null);
    order.forEach((m, place) => {
      const tile = this.tiles[place];
      const map = data.filter(filters, k, m);
      const shown = masked ? map : { ...map, outside: null };
      if (scale !== null) drawPicture(tile.canvas, shown, { ...scale, limit });
      else {
        const room = { width: TILE.strip, height: TILE.stripHeight };
        tile.frame.replaceChildren(signedStrip(map, { ...room, limit, masked }));
      }
      const chosen = choice.kind === "filter" && m === choice.m;
      const against = choice.kind === "filter" && choice.against === k && m === choice.minus && !chosen;
      this.name(tile, view, m, { shares, against });
      tile.element.dataset.filter = m;
      tile.element.setAttribute("aria-selected", String(chosen));
      tile.element.tabIndex = chosen || (place === 0 && choice.kind !== "filter") ? 0 : -1;
    });
    setText(this.heading, `The ${order.length} filters of “${quotedName(outline.classes[k], 24)}”`);
    this.about(view);
  }

  // Tiles are reused from one epsilon to the next; only their content changes.
  prepare(count, onGrid) {
    if (this.tiles.length === count && this.onGrid === onGrid) return;
    this.onGrid = onGrid;
    this.tiles = Array.from({ length: count }, () => {
      const canvas = onGrid ? html("canvas", { class: "dpx-picture", "aria-hidden": "true" }) : null;
      if (canvas !== null) canvas.style.width = `${TILE.picture}px`;
      const frame = html("div", { class: "dpx-tile-picture" }, canvas);
      const caption = html("span", { class: "dpx-tile-words" });
      const element = html("div", { role: "option", class: "dpx-filter-tile" }, frame, caption);
      return { canvas, frame, caption, element };
    });
    this.list.replaceChildren(...this.tiles.map((tile) => tile.element));
  }

  name(tile, { filters, k, data }, m, { shares, against }) {
    const ratio = filters.signal_to_noise?.[k][m];
    const share = shares === null ? null : shares[k * data.nFilters + m];
    const short = [against ? `vs. #${m}` : `#${m}`];
    const words = [`filter ${m}`, ...(against ? ["compared with the selected filter"] : [])];
    if (ratio !== undefined) {
      short.push(formatNumber(ratio, 2));
      words.push(`signal-to-noise ratio ${short.at(-1)}`);
    }
    if (share !== null) {
      short.push(formatShare(share, 2));
      words.push(`share ${short.at(-1)} for the sample`);
    }
    setText(tile.caption, short.join(" · "));
    tile.element.setAttribute("aria-label", words.join(", "));
  }

  about({ filters, sorted, choice }) {
    const known = filters.signal_to_noise !== null;
    const share = filters.share_of_filters;
    const order = sorted ? "highest signal-to-noise first" : "model order";
    const words = known
      ? `Number and signal-to-noise ratio (noise alone gives 1), ${order}; ${formatNumber(100 * share, 2)}% ` +
        "of single-filter weights rise above the noise (5% expected from noise alone). " +
        "Effects in the population are not estimated."
      : "Without privacy noise.";
    const how = choice.kind === "filter" ? " Ctrl-click a filter, or press c, to subtract it." : "";
    setText(this.note, words + how);
  }

  pick(tile) {
    if (tile === null) return;
    choose(this.model, { shown_map: "filter", filter_index: Number(tile.dataset.filter) });
  }

  // Compare the selected filter with another of the class, or stop comparing it.
  compare(tile) {
    if (tile === null) return;
    const view = readFilters(this.model);
    const [m, { against, minus }] = [Number(tile.dataset.filter), view.choice];
    const place = m === minus && against === view.k ? null : m;
    choose(this.model, { shown_map: "filter", against_class: view.outline.classes[view.k], against_filter: place });
  }

  handleKey(event) {
    const places = this.tiles.map((tile) => tile.element);
    const focused = places.indexOf(document.activeElement);
    if (focused < 0) return;
    if (event.key === "c" && !event.ctrlKey && !event.metaKey && !event.altKey) this.compare(places[focused]);
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.pick(places[focused]);
      return;
    }
    const next = indexAfterKey(event, focused, places.length, "list");
    if (next === null) return;
    event.preventDefault();
    this.pick(places[next]);
    places[next].focus();
  }

  destroy() {
    for (const stop of this.stops) stop();
  }
}
