// The disagreement view: distance between explanations, by term and epsilon.
import { baseStop, comparisonKinds, comparisonOf } from "./comparing.js";
import { choiceBox } from "../../kit/controls.js";
import { disagreement } from "./distance.js";
import { breakable, html, listen, setText, uniqueId } from "../../kit/dom.js";
import { formatEpsilon, quotedName, shortName } from "../../kit/format.js";
import { heatLevel, heatText, LEVELS, levelWords } from "./heat.js";
import { indexAfterKey } from "../../kit/keyboard.js";
import { Rows } from "../../kit/rows.js";
import { standaloneParts } from "../../kit/standalone.js";
import { choose } from "../../state/choosing.js";
import { CHOICE_KEYS, NO_BINS, drawOnChange, readState } from "../../state/state.js";
import { numbersTable, plainTable } from "../../kit/table.js";
import { LIST_KEYS, listControls, listedTerms } from "../../state/term_list.js";
import { creatorOf, viewWidget } from "../../kit/view.js";

const KIND_NAMES = {
  reference: "the non-private reference", model: "the other model or class", repeat: "another fit",
};
const HEAT_ROW = 30;
const MARK = "not releasable: based on a non-private model";
const HINT_OF_CELLS = "Click a cell, or use the arrow keys and Enter.";

/**
 * Disagreement of each term at each epsilon: rows by term, numbers by stop; null where unknown.
 * @param {import("../../types").State} state
 */
function disagreements(state, comparison) {
  const fitOf = (row) => row[Math.min(state.repeat, row.length - 1)];
  const pairs = state.payload.fits.map((row, stop) => [fitOf(row), comparison.fitAt(stop)]);
  return state.payload.terms.map((_, i) =>
    pairs.map(([fit, other]) =>
      (other === null || other === fit ? null : disagreement(fit.terms[i], other.terms[i]))),
  );
}

/**
 * Whether the numbers may be shared: all fits used must be private.
 * @param {import("../../types").State} state
 */
function comparesReleasable(state, comparison) {
  const fits = state.payload.fits.flatMap((row, stop) => [...row, comparison.fitAt(stop)]);
  return fits.every((fit) => fit === null || fit.guarantee.private);
}

class Disagreement {
  constructor(model, host, { standalone = false } = {}) {
    this.model = model;
    this.cursor = null;
    this.written = new WeakMap();
    this.id = uniqueId("cell");
    this.alone = standalone ? standaloneParts(model) : null;
    this.controls = standalone ? listControls(model) : null;
    this.build(host);
    this.rows = new Rows(this.body, HEAT_ROW, (i) => this.makeRow(i), this.grid);
    this.stops = [
      drawOnChange(model, [...CHOICE_KEYS, ...LIST_KEYS, "against"], () => this.draw()),
      listen(this.grid, "keydown", (event) => this.handleKey(event)),
      listen(this.grid, "focus", () => this.moveTo(this.cursor ?? this.chosenPlace())),
      listen(this.grid, "blur", () => this.moveTo(null)),
      () => this.rows.destroy(),
    ];
    this.draw();
  }

  build(host) {
    this.about = html("p", { class: "dpx-note" });
    this.head = html("div", { class: "dpx-heat-row dpx-heat-head", role: "row" });
    this.body = html("div", { class: "dpx-heat-body", role: "rowgroup" });
    this.mark = html("div", { class: "dpx-heat-mark", "aria-hidden": "true" }, MARK);
    this.grid = html("div", { class: "dpx-heat", role: "grid", tabindex: "0" }, this.head, this.body);
    this.readout = html("p", { class: "dpx-readout" });
    this.againstBox = choiceBox("Compare with", (kind) => choose(this.model, { against: kind }));
    this.table = numbersTable(() => this.asTable());
    this.legend = html("ul", { class: "dpx-legend" }, LEVELS.map((_, level) => html(
      "li", { class: "dpx-legend-item" },
      html("span", { class: `dpx-heat-cell dpx-heat-${level} dpx-heat-key` }, heatText(LEVELS[level])),
      html("span", {}, levelWords(level)))));
    host.append(
      html("header", { class: "dpx-head" }, html("h3", {}, "Where explanations disagree"), this.againstBox.element),
      this.about,
      ...[this.controls?.element].filter(Boolean),
      this.grid, this.mark, this.legend, this.readout,
      ...(this.alone ? [html("div", { class: "dpx-controls" }, this.alone.controls), this.alone.sentence] : []),
      this.table.element,
    );
  }

  makeRow(i) {
    const name = shortName(this.state.payload.terms[i].name, 200);
    const title = shortName(this.state.payload.terms[i].name, 500);
    const cells = this.state.payload.epsilons.map((_, stop) => {
      const cell = html("div", { role: "gridcell", id: `${this.id}-${i}-${stop}` });
      cell.addEventListener("click", () => this.pick(i, stop));
      return cell;
    });
    const head = html("div", { class: "dpx-heat-name", role: "rowheader", title }, html("bdi", {}, breakable(name)));
    return html("div", { class: "dpx-heat-row", role: "row" }, head, cells);
  }

  draw() {
    const state = readState(this.model);
    if (state.term === undefined) return;
    if (this.state?.payload !== state.payload) this.rows.forget();
    this.state = state;
    this.comparison = comparisonOf(state, this.model.get("against"));
    this.controls?.draw(state);
    const nothing = this.comparison === null;
    for (const part of [this.grid, this.legend, this.mark, this.table.element]) part.hidden = nothing;
    this.drawWords(state);
    if (this.comparison === null) return;
    this.values = this.valuesOf(state, this.comparison);
    this.grid.style.setProperty("--dpx-columns", String(state.payload.epsilons.length));
    this.drawHead(state);
    this.mark.hidden = comparesReleasable(state, this.comparison);
    this.rows.draw(listedTerms(this.model, state), (i) => this.drawRow(i));
    this.grid.setAttribute("aria-label", this.summary(state));
    this.describe();
    this.table.draw();
  }

  drawHead({ payload, stop }) {
    if (this.headed !== payload) {
      this.headed = payload;
      const heads = payload.epsilons.map((epsilon) =>
        html("div", { class: "dpx-heat-cell", role: "columnheader" }, formatEpsilon(epsilon)));
      this.head.replaceChildren(html("div", { class: "dpx-heat-name", role: "columnheader" }, "term"), ...heads);
    }
    payload.epsilons.forEach((_, k) => this.head.children[k + 1].classList.toggle("dpx-heat-chosen", k === stop));
  }

  // The numbers do not depend on which epsilon is selected.
  valuesOf(state, comparison) {
    const { kind, baseStop, words } = comparison;
    const key = JSON.stringify([kind, baseStop, words, state.repeat]);
    if (this.known?.key !== key || this.known.payload !== state.payload) {
      this.known = { key, payload: state.payload, values: disagreements(state, comparison) };
    }
    return this.known.values;
  }

  drawWords(state) {
    const kinds = comparisonKinds(state);
    const nameOf = (kind) => KIND_NAMES[kind] ?? `ε = ${formatEpsilon(state.payload.epsilons[baseStop(state)])}`;
    this.againstBox.fill(kinds.map((kind) => [kind, nameOf(kind)]), this.comparison?.kind ?? "");
    this.againstBox.element.hidden = kinds.length < 2;
    if (this.comparison === null) {
      setText(this.about, "Only one fit here; sweep over several ε to compare.");
      setText(this.readout, "");
      return;
    }
    const releasable = comparesReleasable(state, this.comparison);
    const without = state.reference === null && releasable
      ? " No non-private reference is shown, so private fits are compared with each other: these numbers may be shared."
      : "";
    const leave = releasable ? "" : " Not releasable.";
    setText(this.about,
      `Each number is the distance between the curve of a term and that of ${this.comparison.words}, in percent ` +
      "of the size of that curve, averaged over the records. For a term within the noise, noise alone can reach " +
      `100%.${without}${leave}`);
  }

  summary(state) {
    const all = this.values.flat().filter((value) => value !== null);
    const large = all.filter((value) => value >= 1).length;
    return `Disagreement of ${state.payload.terms.length} terms at ${state.payload.epsilons.length} values of ` +
      `epsilon with ${this.comparison.words}; ${large} of ${all.length} are 100% or more`;
  }

  // Most cells do not change while epsilon is scrubbed.
  drawRow(i) {
    const { state } = this;
    const row = this.rows.element(i);
    row.classList.toggle("dpx-heat-row-chosen", i === state.termIndex);
    this.values[i].forEach((value, stop) => {
      const cell = row.children[stop + 1];
      const chosen = i === state.termIndex && stop === state.stop;
      const pointed = this.cursor !== null && this.cursor[0] === i && this.cursor[1] === stop;
      const look = [
        "dpx-heat-cell", value === null ? "dpx-heat-none" : `dpx-heat-${heatLevel(value)}`,
        chosen ? "dpx-heat-chosen" : "", pointed ? "dpx-heat-pointed" : "",
      ].join(" ").trim();
      if (cell.className !== look) {
        cell.className = look;
        cell.setAttribute("aria-selected", String(chosen));
      }
      if (this.written.get(cell) === value) return;
      this.written.set(cell, value);
      cell.setAttribute("aria-label", this.words(i, stop));
      setText(cell, heatText(value));
    });
  }

  words(i, stop) {
    const { payload } = this.state;
    const value = this.values[i][stop];
    const where = `${quotedName(payload.terms[i].name, 48)}, ε = ${formatEpsilon(payload.epsilons[stop])}`;
    if (value === null) return `${where}: nothing to compare`;
    return `${where}: differs by ${Math.round(100 * value)}% of the size of the curve`;
  }

  describe() {
    const { state } = this;
    const [i, stop] = this.cursor ?? [state.termIndex, Math.min(state.stop, state.payload.epsilons.length - 1)];
    setText(this.readout, `${this.words(i, stop)}. ${HINT_OF_CELLS}`);
  }

  chosenPlace() {
    const { state } = this;
    if (!state || this.comparison === null) return null;
    return [state.termIndex, Math.min(state.stop, state.payload.epsilons.length - 1)];
  }

  pick(i, stop) {
    const { terms } = this.state.payload;
    const moved = i !== this.state.termIndex ? { ...NO_BINS, term: terms[i].name } : {};
    this.cursor = [i, stop];
    choose(this.model, { ...moved, epsilon_index: stop });
  }

  handleKey(event) {
    if (this.comparison === null || this.cursor === null) return;
    const [i, stop] = this.cursor;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.pick(i, stop);
      return;
    }
    const place = this.rows.keys.indexOf(i);
    const down = ["ArrowUp", "ArrowDown", "PageUp", "PageDown"].includes(event.key);
    const next = down
      ? indexAfterKey(event, place, this.rows.keys.length, "list")
      : indexAfterKey(event, stop, this.state.payload.epsilons.length);
    if (next === null) return;
    event.preventDefault();
    this.moveTo(down ? [this.rows.keys[next], stop] : [i, next]);
  }

  moveTo(cursor) {
    this.cursor = cursor;
    if (!this.values || this.comparison === null) return;
    const place = cursor === null ? -1 : this.rows.keys.indexOf(cursor[0]);
    if (place >= 0) this.rows.reveal(place);
    this.rows.show(true);
    if (place >= 0) this.grid.setAttribute("aria-activedescendant", `${this.id}-${cursor[0]}-${cursor[1]}`);
    else this.grid.removeAttribute("aria-activedescendant");
    this.describe();
  }

  asTable() {
    const { payload } = this.state;
    const text = (value) => (value === null ? "–" : `${Math.round(100 * value)}%`);
    const rows = this.rows.keys.map((i) => [shortName(payload.terms[i].name, 80), ...this.values[i].map(text)]);
    return plainTable(["term", ...payload.epsilons.map((epsilon) => `ε = ${formatEpsilon(epsilon)}`)], rows);
  }

  destroy() {
    for (const stop of this.stops) stop();
    this.alone?.destroy();
  }
}

/** Put the disagreement view into a host. */
export const createDisagreement = creatorOf(Disagreement);

export default viewWidget("disagreement", createDisagreement);
