// The importance view: how much each term moves the prediction, on average.
import { choiceBox } from "./controls.js";
import { html, listen, setText, svg, uniqueId } from "./dom.js";
import { formatLike, plural, quotedName, shortName } from "./format.js";
import { indexAfterKey } from "./keyboard.js";
import { hatchPattern } from "./marks.js";
import { linearScale } from "./scale.js";
import { standaloneParts } from "./standalone.js";
import { CHOICE_KEYS, chooseTerm, drawOnChange, readState } from "./state.js";
import { observeWidth, viewWidget } from "./view.js";
import { placeWords, scoreWords, spokenNoise } from "./words.js";

const ORDERS = [["last", "largest ε"], ["this", "this ε"], ["schema", "schema"], ["name", "name"]];
const BAR = { height: 22, thickness: 14 };

/** Indices of the terms in the order to list them. */
export function termOrder(state, order) {
  const { terms, fits } = state.payload;
  const indices = terms.map((_, i) => i);
  if (order === "schema") return indices;
  if (order === "name") {
    return indices.sort((a, b) => terms[a].name.localeCompare(terms[b].name));
  }
  const ruling = order === "this" || fits.length === 0 ? state.fit : fits.at(-1)[0];
  return indices.sort((a, b) => ruling.terms[b].importance - ruling.terms[a].importance);
}

function unitWords(payload) {
  const { unit } = payload.target;
  return payload.link === "identity" && unit ? quotedName(unit, 24) : scoreWords(payload);
}

function longestBar(state) {
  const shown = [...state.payload.fits.flat(), ...state.fits, state.reference].filter(Boolean);
  return Math.max(1e-12, ...shown.flatMap((fit) => fit.terms.map((term) => term.importance)));
}

function noiseFloor({ importance, noise_floor: floor }, bar, scale, ids, width) {
  const inside = scale(Math.min(floor, importance));
  const parts = [svg("rect", { ...bar, width: inside, fill: `url(#${ids.onBar})` })];
  if (floor > importance) {
    const rest = Math.min(width, scale(floor)) - inside;
    parts.push(svg("rect", { ...bar, x: inside, width: Math.max(0, rest), fill: `url(#${ids.hatch})` }));
  }
  return parts;
}

function barPicture(state, i, scale, ids, width) {
  const termFit = state.fit.terms[i];
  const y = (BAR.height - BAR.thickness) / 2;
  const bar = { x: 0, y, height: BAR.thickness };
  const role = state.atReference ? "only-reference" : "main";
  const parts = [svg("rect", { ...bar, width: scale(termFit.importance), class: `dpx-bar dpx-bar-${role}` })];
  if (termFit.noise_floor !== null) parts.push(...noiseFloor(termFit, bar, scale, ids, width));
  const tick = (importance, role) => {
    const x = Math.max(1.5, scale(importance));
    const d = `M${x} 1V${BAR.height - 1}`;
    parts.push(svg("path", { d, class: "dpx-halo" }), svg("path", { d, class: `dpx-tick dpx-tick-${role}` }));
  };
  if (state.pinned) tick(state.pinned.terms[i].importance, "pinned");
  if (state.reference && !state.atReference) tick(state.reference.terms[i].importance, "reference");
  return parts;
}

class Importance {
  constructor(model, host, { standalone = false } = {}) {
    this.model = model;
    this.order = "last";
    this.width = 0;
    this.barWidth = 40;
    this.ids = { hatch: uniqueId("hatch"), onBar: uniqueId("hatch") };
    this.rows = [];
    this.shownTerms = null;
    this.alone = standalone ? standaloneParts(model) : null;
    this.build(host);
    this.stops = [
      drawOnChange(model, CHOICE_KEYS, () => this.draw()),
      observeWidth(this.list, (width) => this.resize(width)),
      listen(this.list, "keydown", (event) => this.handleKey(event)),
    ];
    this.draw();
  }

  build(host) {
    this.heading = html("h3", { id: uniqueId("title") }, "Which terms matter");
    this.count = html("span", { class: "dpx-note" });
    this.list = html("ul", { class: "dpx-terms", role: "listbox", "aria-labelledby": this.heading.id });
    this.legend = html("p", { class: "dpx-note" });
    this.orderBox = choiceBox("Order by", (order) => {
      this.order = order;
      this.draw();
    });
    this.orderBox.fill(ORDERS, this.order);
    host.append(
      svg("svg", { class: "dpx-definitions", width: 0, height: 0, "aria-hidden": "true" },
        svg("defs", {}, hatchPattern(this.ids.hatch), hatchPattern(this.ids.onBar, "bar"))),
      html("header", { class: "dpx-head" }, this.heading, this.count),
      this.list,
      this.legend,
      html("div", { class: "dpx-controls" }, this.alone?.controls, this.orderBox.element),
      ...[this.alone?.sentence].filter(Boolean),
    );
  }

  resize(width) {
    this.width = width;
    this.measure();
    this.draw();
  }

  // Measured here and not while drawing: reading a width makes the browser lay out the page.
  measure() {
    const bar = this.rows[0]?.bar.clientWidth ?? 0;
    this.barWidth = Math.max(40, Math.floor(bar || this.width * 0.4));
  }

  makeRows(state) {
    if (this.shownTerms === state.payload.terms) return;
    this.shownTerms = state.payload.terms;
    this.rows = state.payload.terms.map((term) => this.makeRow(term));
  }

  makeRow(term) {
    const name = html("bdi", { class: "dpx-term-name", title: shortName(term.name, 500) }, shortName(term.name, 200));
    const bar = svg("svg", { class: "dpx-svg dpx-term-bar", height: BAR.height, "aria-hidden": "true" });
    const value = html("span", { class: "dpx-term-value" });
    const element = html("li", { class: "dpx-term", role: "option", tabindex: "-1" }, name, bar, value);
    element.addEventListener("click", () => chooseTerm(this.model, term.name));
    return { element, bar, value, term };
  }

  draw() {
    const state = readState(this.model);
    if (state.term === undefined) return;
    this.makeRows(state);
    setText(this.count, plural(state.payload.terms.length, "term"));
    const order = termOrder(state, this.order);
    const wanted = order.map((i) => this.rows[i].element);
    const current = Array.from(this.list.children);
    if (wanted.length !== current.length || wanted.some((row, k) => row !== current[k])) {
      this.list.replaceChildren(...wanted);
    }
    const scale = linearScale([0, longestBar(state)], [0, this.barWidth - 2]);
    order.forEach((i) => this.drawRow(state, i, scale));
    this.drawLegend(state);
  }

  drawRow(state, i, scale) {
    const { element, bar, value, term } = this.rows[i];
    const importance = formatLike(state.fit.terms[i].importance, scale.domain[1]);
    bar.replaceChildren(...barPicture(state, i, scale, this.ids, this.barWidth));
    const { above_noise: above, ranks } = state.fit.terms[i];
    const places = ranks ? `\nplace ${placeWords(ranks)}` : "";
    setText(value, `${importance}${places}`);
    element.classList.toggle("dpx-term-noise", above === false);
    const chosen = i === state.termIndex;
    element.classList.toggle("dpx-term-chosen", chosen);
    element.setAttribute("aria-selected", String(chosen));
    element.setAttribute("tabindex", chosen ? "0" : "-1");
    const spoken = spokenNoise(state.fit.terms[i]);
    element.setAttribute("aria-label", `${shortName(term.name, 120)}, importance ${importance}${spoken}`);
  }

  drawLegend(state) {
    const parts = [`Bar: mean absolute contribution over the records, in ${unitWords(state.payload)}.`];
    const noisy = state.fit.terms[0].noise_floor !== null;
    if (noisy) parts.push("Hatched: about what the noise in the bands alone would give.");
    if (state.fit.terms[0].ranks) {
      parts.push("Place: where the term can stand, 95 % certain. Pale: does not stand out of the noise.");
    }
    if (state.reference && !state.atReference) parts.push("Solid tick: non-private reference, not releasable.");
    if (state.pinned) parts.push("Dotted tick: pinned ε.");
    setText(this.legend, parts.join(" "));
  }

  handleKey(event) {
    const rows = Array.from(this.list.children);
    const focused = rows.indexOf(document.activeElement);
    if (focused < 0) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      rows[focused].click();
      return;
    }
    const next = indexAfterKey(event, focused, rows.length, "list");
    if (next === null) return;
    event.preventDefault();
    rows[next].focus();
    rows[next].click();
  }

  destroy() {
    for (const stop of this.stops) stop();
    this.alone?.destroy();
  }
}

/** Put the importance view into `host`. Returns a function that ends it. */
export function createImportance(model, host, options) {
  const view = new Importance(model, host, options);
  return () => view.destroy();
}

export default viewWidget("importance", createImportance);
