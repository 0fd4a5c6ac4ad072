// A figure: charts at chosen epsilons with claims about them, on one releasable sheet.
import { button } from "../kit/controls.js";
import { html, setText } from "../kit/dom.js";
import { download } from "./download.js";
import { formatEpsilon, formatNumber, shortName } from "../kit/format.js";
import { readState } from "../state/state.js";
import { offerTable, plainTable } from "../kit/table.js";
import { pageText, pictureOf, pngOf, svgText } from "./view_picture.js";
import { guaranteeDetail } from "../kit/words.js";

/**
 * @typedef {import("../types").Model} Model
 * @typedef {import("../types").State} State
 * @typedef {{key: string, title: string, elements: Node[], claim: any}} FigureItem
 */

const trays = new WeakMap();

/** Width of the chart in a figure, in pixels. */
export const FIGURE_WIDTH = 560;

const STRIP_MEANING = "✓ holds with 95% confidence, ~ may be noise, ? may be noise or hidden by shrinkage, ↔ the " +
  "opposite holds, · both sides in one bin";

/**
 * The releasable part of a state, with private fits only; a text if there is none.
 * @param {State} state
 * @returns {State | string}
 */
export function releasableState(state) {
  if (state.atReference || !state.fit.guarantee.private) return "A figure holds private fits only: choose an ε.";
  const other = state.other?.guarantee.private ? state.other : null;
  return { ...state, reference: null, referenceShown: false, other };
}

/**
 * Add a claim and its chart to the figure of a view.
 * @param {Model} model
 * @param {FigureItem} item
 */
export function addToFigure(model, item) {
  trays.get(model)?.(item);
}

class Figure {
  constructor(root, model) {
    this.root = root;
    this.model = model;
    this.items = new Map();
    this.status = html("span", { class: "dpx-note", role: "status" });
    this.about = html("p", { class: "dpx-note" });
    this.list = html("div", { class: "dpx-figure-list" });
    const head = offerTable(html("header", { class: "dpx-head" }, html("h3", {}, "Figure")), () => this.asTable());
    const buttons = ["html", "svg", "png"].map((ending) =>
      button(`Save figure as ${ending.toUpperCase()}`, () => this.save(ending)));
    this.element = html("section", { class: "dpx-part dpx-figure", "aria-label": "Figure", hidden: true },
      head, this.about, this.list, html("p", { class: "dpx-note" }, `Strips over ε: ${STRIP_MEANING}.`),
      html("div", { class: "dpx-controls" }, buttons, button("Clear figure", () => this.clear()), this.status));
    root.querySelector(".dpx-panel").append(this.element);
    trays.set(model, (item) => this.add(item));
  }

  // A chart may have several claims about the bins that it marks.
  add({ key, title, elements, claim }) {
    const { payload, fit } = readState(this.model);
    const epsilon = `ε = ${formatEpsilon(fit.epsilon)}`;
    const known = this.items.get(key) ?? { claims: new Map(), box: html("div", { class: "dpx-figure-claims" }) };
    if (!this.items.has(key)) {
      this.items.set(key, known);
      known.element = html("article", { class: "dpx-figure-item" },
        html("h4", {}, html("bdi", {}, title), ` · ${epsilon}`), ...elements, known.box,
        html("p", { class: "dpx-note" }, `${epsilon} · ${guaranteeDetail(fit.guarantee)}`),
        html("div", { class: "dpx-controls" }, button("Remove", () => this.remove(key))));
      this.list.append(known.element);
    }
    if (!known.claims.has(claim.texts[0])) {
      known.claims.set(claim.texts[0], claim);
      known.box.append(claim.copy);
    }
    const day = new Date().toISOString().slice(0, 10);
    setText(this.about, `${shortName(payload.title, 160)} · ${day}`);
    setText(this.status, "");
    this.element.hidden = false;
  }

  remove(key) {
    this.items.get(key).element.remove();
    this.items.delete(key);
    this.element.hidden = this.items.size === 0;
  }

  clear() {
    for (const key of Array.from(this.items.keys())) this.remove(key);
  }

  asTable() {
    const rows = Array.from(this.items.values()).flatMap(({ claims }) => Array.from(claims.values(),
      ({ texts, epsilon, claim }) => [
        texts[0], formatEpsilon(epsilon),
        ...[claim.estimate, claim.low, claim.high].map((each) => formatNumber(each, 4)), String(claim.holds),
      ]));
    return plainTable(["claim", "ε", "estimate", "low", "high", "holds"], rows);
  }

  async save(ending) {
    try {
      const picture = pictureOf(this.element, this.root, this.model);
      if (ending === "html") download(pageText(picture), "text/html", "figure.html");
      else if (ending === "svg") download(svgText(picture), "image/svg+xml", "figure.svg");
      else download(await pngOf(picture), "image/png", "figure.png");
      setText(this.status, `saved as figure.${ending}`);
    } catch (error) {
      setText(this.status, `could not be saved: ${error.message}`);
    }
  }
}

/**
 * The element of a figure at the end of a frame; hidden until something is added.
 * @param {Model} model
 */
export function addFigure(root, model) {
  new Figure(root, model);
  return () => trays.delete(model);
}
