// The importance view: the average effect of each term on the prediction.
import { afterNextFrame, breakable, html, keepHeights, listen, setText, svg, uniqueId } from "../../kit/dom.js";
import { formatLike, plural, shortName } from "../../kit/format.js";
import { indexAfterKey } from "../../kit/keyboard.js";
import { effectDot } from "../../charts/legend.js";
import { hatchPattern } from "../../charts/marks.js";
import { placesOf } from "../rank/ranks.js";
import { Rows } from "../../kit/rows.js";
import { linearScale } from "../../charts/scale.js";
import { standaloneParts } from "../../kit/standalone.js";
import { CHOICE_KEYS, chooseTerm, drawOnChange, readState } from "../../state/state.js";
import { offerTable } from "../../kit/table.js";
import { LIST_KEYS, listControls, listedTerms } from "../../state/term_list.js";
import { creatorOf, observeWidth, viewWidget } from "../../kit/view.js";
import { importanceTable } from "../../export/view_tables.js";
import { otherWords, placeWords, spokenNoise } from "../../kit/words.js";

const BAR = { height: 22, thickness: 14 };
const ROW_HEIGHT = 36;

function longestBar(state) {
  const shown = [...state.payload.fits.flat(), ...state.fits, state.reference, state.other].filter(Boolean);
  // Room for the dot of the largest effect; the axis is fixed across epsilons.
  const sizes = (term) => [term.importance, ...(showsEffects(state) ? [1.1 * (term.effect_size ?? 0)] : [])];
  return Math.max(1e-12, ...shown.flatMap((fit) => fit.terms.flatMap(sizes)));
}

function showsEffects(state) {
  return state.shownCurve !== "released" && Boolean(state.fit.terms[0].effect_size);
}

/** The size of an effect with two standard deviations; hollow if no effect is certain. */
function effectMark({ effect_size: size, effect_size_std: std, has_effect: certain }, scale, width) {
  const [from, at, to] = [size - 2 * std, size, size + 2 * std].map((value) =>
    Math.max(0, Math.min(width, scale(value))));
  const y = BAR.height / 2;
  return [
    svg("path", { d: `M${from} ${y}H${to}`, class: "dpx-effect-whisker" }),
    effectDot(at, y, certain),
  ];
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
  if (showsEffects(state) && !termFit.axes && termFit.effect_size) parts.push(...effectMark(termFit, scale, width));
  const tick = (importance, role) => {
    const x = Math.max(1.5, scale(importance));
    const d = `M${x} 1V${BAR.height - 1}`;
    parts.push(svg("path", { d, class: "dpx-halo" }), svg("path", { d, class: `dpx-tick dpx-tick-${role}` }));
  };
  if (state.pinned) tick(state.pinned.terms[i].importance, "pinned");
  if (state.other) tick(state.other.terms[i].importance, "other");
  if (state.reference && !state.atReference) tick(state.reference.terms[i].importance, "reference");
  return parts;
}

/** The fit with which the order of terms is compared: the pinned fit, or the reference. */
function besideOf(state) {
  if (state.pinned) return { fit: state.pinned, words: "the pinned fit" };
  if (state.atReference || state.reference === null) return null;
  return { fit: state.reference, words: "the reference" };
}

function termSwatch(kind, ids) {
  const bar = { x: 1, y: 3, width: 28, height: 10 };
  const ofRole = (role) => svg("rect", { ...bar, class: `dpx-bar dpx-bar-${role}` });
  const tick = { d: "M15 0V16", class: `dpx-tick dpx-tick-${kind}` };
  const marks = {
    main: () => [ofRole("main")],
    "only-reference": () => [ofRole("only-reference")],
    floor: () => [ofRole("main"), svg("rect", { ...bar, fill: `url(#${ids.onBar})` })],
    effect: () => [
      svg("path", { d: "M2 8H28", class: "dpx-effect-whisker" }),
      effectDot(15, 8, true),
    ],
    pale: () => [svg("g", { class: "dpx-term-noise" }, ofRole("main"))],
  };
  const drawn = marks[kind]?.() ?? (/^[a-z]/.test(kind) ? [svg("path", tick)] : null);
  if (drawn === null) return html("span", { class: "dpx-text-swatch", "aria-hidden": "true" }, kind);
  return svg("svg", { width: 30, height: 16, class: "dpx-swatch", "aria-hidden": "true" }, drawn);
}

class Importance {
  constructor(model, host, { standalone = false } = {}) {
    this.model = model;
    this.width = 0;
    this.barWidth = 40;
    this.ids = { hatch: uniqueId("hatch"), onBar: uniqueId("hatch") };
    this.shownTerms = null;
    this.alone = standalone ? standaloneParts(model) : null;
    this.controls = listControls(model);
    this.build(host);
    this.rows = new Rows(this.list, ROW_HEIGHT, (i) => this.makeRow(i));
    this.parts = new Map();
    // Next to other views, the list follows a frame after them, so that the chart need not wait for it.
    const later = afterNextFrame(() => this.draw());
    const drawSoon = () => (standalone || document.hidden ? this.draw() : later.ask());
    this.stops = [
      drawOnChange(model, LIST_KEYS, () => this.draw()),
      drawOnChange(model, CHOICE_KEYS, drawSoon),
      later.stop,
      observeWidth(this.list, (width) => this.resize(width)),
      listen(this.list, "keydown", (event) => this.handleKey(event)),
      () => this.rows.destroy(),
    ];
    this.draw();
  }

  build(host) {
    this.heading = html("h3", { id: uniqueId("title") }, "Which terms matter");
    this.count = html("span", { class: "dpx-note", role: "status" });
    this.list = html("ul", { class: "dpx-terms", role: "listbox", "aria-labelledby": this.heading.id });
    this.nothing = html("p", { class: "dpx-note", hidden: true }, "No matching term; change the search.");
    this.legend = html("ul", { class: "dpx-terms-legend" });
    this.keep = keepHeights([this.legend]);
    this.explained = "";
    host.append(
      svg("svg", { class: "dpx-definitions", width: 0, height: 0, "aria-hidden": "true" },
        svg("defs", {}, hatchPattern(this.ids.hatch), hatchPattern(this.ids.onBar, "bar"))),
      offerTable(html("header", { class: "dpx-head" }, this.heading, this.count), () => this.asTable()),
      this.controls.element,
      this.list,
      this.nothing,
      this.legend,
      ...(this.alone ? [html("div", { class: "dpx-controls" }, this.alone.controls), this.alone.sentence] : []),
    );
  }

  resize(width) {
    this.width = width;
    this.measure();
    this.draw();
  }

  // Measured here, not while drawing, because it forces the browser to lay out the page.
  measure() {
    const bar = this.list.querySelector(".dpx-term-bar")?.clientWidth ?? 0;
    this.barWidth = Math.max(40, Math.floor(bar || this.width * 0.4));
  }

  makeRow(i) {
    const term = this.shownTerms[i];
    const name = html("bdi", { class: "dpx-term-name", title: shortName(term.name, 500) },
      breakable(shortName(term.name, 200)));
    const bar = svg("svg", { class: "dpx-svg dpx-term-bar", height: BAR.height, "aria-hidden": "true" });
    const [size, ranks] = [html("span"), html("span", { class: "dpx-term-ranks" })];
    const value = html("span", { class: "dpx-term-value" }, size, ranks);
    const element = html("li", { class: "dpx-term", role: "option", tabindex: "-1" }, name, bar, value);
    element.addEventListener("click", () => chooseTerm(this.model, term.name));
    this.parts.set(i, { element, bar, size, ranks, term });
    return element;
  }

  draw() {
    const state = readState(this.model);
    if (state.term === undefined) return;
    if (this.shownTerms !== state.payload.terms) {
      this.shownTerms = state.payload.terms;
      this.rows.forget();
    }
    this.keep(state.atReference);
    const listed = listedTerms(this.model, state);
    const total = state.payload.terms.length;
    setText(this.count, listed.length < total ? `${listed.length} of ${plural(total, "term")}` : plural(total, "term"));
    this.nothing.hidden = listed.length > 0;
    this.controls.draw(state);
    const scale = linearScale([0, longestBar(state)], [0, this.barWidth - 2]);
    this.tabStop = listed.includes(state.termIndex) ? state.termIndex : listed[0];
    this.rows.draw(listed, (i, place) => this.drawRow(state, i, scale, place));
    if (this.width > 0) this.reveal(state.term.name, listed.indexOf(state.termIndex)); // before, it has no height
    this.drawLegend(state);
  }

  reveal(name, place) {
    if (this.revealed !== name && place >= 0) this.rows.reveal(place);
    this.revealed = name;
  }

  drawRow(state, i, scale, place) {
    const { element, bar, term, ...texts } = this.parts.get(i);
    const importance = formatLike(state.fit.terms[i].importance, scale.domain[1]);
    bar.replaceChildren(...barPicture(state, i, scale, this.ids, this.barWidth));
    const { above_noise: above, ranks, absent } = state.fit.terms[i];
    const moved = this.moveOf(state, i);
    setText(texts.size, absent ? "absent" : [importance, moved.arrow].filter(Boolean).join(" "));
    setText(texts.ranks, absent || !ranks ? "" : ` #${placeWords(ranks)}`);
    element.classList.toggle("dpx-term-noise", above === false);
    const chosen = i === state.termIndex;
    element.classList.toggle("dpx-term-chosen", chosen);
    element.setAttribute("aria-selected", String(chosen));
    element.setAttribute("tabindex", i === this.tabStop ? "0" : "-1");
    element.setAttribute("aria-posinset", String(place + 1));
    element.setAttribute("aria-setsize", String(this.rows.keys.length));
    const spoken = spokenNoise(state.fit.terms[i]);
    const words = absent ? spoken : `, importance ${importance}${spoken}${moved.words}`;
    element.setAttribute("aria-label", `${shortName(term.name, 120)}${words}`);
  }

  // Difference of the rank of a term from its rank in the fit for comparison.
  moveOf(state, i) {
    const other = besideOf(state);
    const ranked = other !== null && !state.fit.terms[i].axes;
    const by = ranked ? placesOf(other.fit)[i] - placesOf(state.fit)[i] : 0;
    if (by === 0) return { arrow: "", words: "" };
    const [arrow, way] = by > 0 ? ["▲", "higher"] : ["▼", "lower"];
    const far = Math.abs(by);
    return { arrow: `${arrow}${far}`, words: `, ${plural(far, "rank")} ${way} than in ${other.words}` };
  }

  drawLegend(state) {
    const { noise_floor: floor, ranks } = state.fit.terms[0];
    const beside = besideOf(state);
    const entries = [[state.atReference ? "only-reference" : "main", "mean absolute contribution"]];
    if (floor !== null) entries.push(["floor", "noise alone"]);
    if (ranks) entries.push(["pale", "within noise"]);
    if (state.reference && !state.atReference) entries.push(["reference", "non-private reference, not releasable"]);
    if (state.pinned) entries.push(["pinned", "pinned ε"]);
    if (state.other) entries.push(["other", otherWords(state)]);
    const effect = showsEffects(state);
    if (effect) {
      entries.push(["effect", "estimated effect, ±2 SD; hollow: uncertain"]);
    }
    if (ranks) entries.push(["#2–4", "95% rank interval"]);
    if (beside) entries.push(["▲ ▼", `rank change from ${beside.words}`]);
    const wanted = JSON.stringify(entries);
    if (this.explained === wanted) return;
    this.explained = wanted;
    this.legend.replaceChildren(...entries.map(([kind, words]) =>
      html("li", { class: "dpx-legend-item" }, termSwatch(kind, this.ids), html("span", {}, words))));
  }

  asTable() {
    const state = readState(this.model);
    return importanceTable(state, listedTerms(this.model, state));
  }

  handleKey(event) {
    const { keys } = this.rows;
    const focused = keys.findIndex((i) => this.parts.get(i)?.element === document.activeElement);
    if (focused < 0) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.rows.rowAt(focused).click();
      return;
    }
    const next = indexAfterKey(event, focused, keys.length, "list");
    if (next === null) return;
    event.preventDefault();
    this.rows.reveal(next);
    this.rows.rowAt(next).focus({ preventScroll: true });
    this.rows.rowAt(next).click();
  }

  destroy() {
    for (const stop of this.stops) stop();
    this.alone?.destroy();
  }
}

/** Put the importance view into a host. */
export const createImportance = creatorOf(Importance);

export default viewWidget("importance", createImportance);
