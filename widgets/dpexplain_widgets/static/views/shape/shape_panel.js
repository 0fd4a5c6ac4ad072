// One term of one fit, with its noise, counts and comparisons.
import { EXTREMES, KEYS, comparisons, isSecondPick, orderedRange, readOut } from "./ranges.js";
import { askedAbout } from "../claim/claims.js";
import { valueCount } from "../claim/contrasts.js";
import { claimPanel } from "../claim/claim_panel.js";
import { button, choiceBox } from "../../kit/controls.js";
import { mainTerm } from "../../charts/curves.js";
import { html, keepHeights, listen, setAttributes, setText, uniqueId } from "../../kit/dom.js";
import { quotedName, shortName } from "../../kit/format.js";
import { indexAfterKey } from "../../kit/keyboard.js";
import { drawLegend } from "../../charts/legend.js";
import { byKind } from "../../state/by_kind.js";
import { createPairPanel } from "./pair_panel.js";
import { drawCategoricalShape, rowOrder } from "./shape_categorical.js";
import { drawNumericShape } from "./shape_numeric.js";
import { shapeForFigure } from "./shape_figure.js";
import { optionsOf, shapeOptions } from "./shape_options.js";
import { replayedCurve } from "./replay.js";
import { choose } from "../../state/choosing.js";
import {
  CHOICE_KEYS, chooseTerm, chosenBin, chosenRange, drawOnChange, readState, secondSpan,
} from "../../state/state.js";
import { epsilonMotion } from "../../charts/motion.js";
import { numbersTable, shapeTable } from "../../kit/table.js";
import { fontOf } from "../../kit/text.js";
import { pointerTip } from "../../charts/tip.js";
import { creatorOf, observeWidth } from "../../kit/view.js";
import { BAND_MEANING, EFFECT_MEANING, shapeSummary } from "../../kit/words.js";

const secondOf = (state, termFit) => secondSpan(state, termFit.labels.length, valueCount(termFit));

const lettersOf = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
const PANEL_KEYS = [...CHOICE_KEYS, "same_axis", "even_bins", "category_order", "replay_draw"];

class ShapePanel {
  constructor(model, host, { standalone = false } = {}) {
    this.model = model;
    this.hovered = null;
    this.width = 0;
    [this.anchor, this.dragged] = [null, null];
    this.move = epsilonMotion();
    this.ids = { hatch: uniqueId("hatch"), clip: uniqueId("clip") };
    this.build(host, standalone);
    this.stops = [
      drawOnChange(model, PANEL_KEYS, () => this.draw()),
      observeWidth(this.plot, (width) => this.resize(width)),
      ...this.listenToPointer(),
      listen(this.plot, "keydown", (event) => this.handleKey(event)),
    ];
    this.draw();
  }

  build(host, standalone) {
    this.title = html("bdi");
    this.about = html("p", { class: "dpx-note" });
    this.legend = html("ul", { class: "dpx-legend" });
    this.plot = html("div", { class: "dpx-plot dpx-shape-plot", role: "slider", tabindex: "0" });
    this.tip = pointerTip(this.plot);
    this.readoutTitle = html("strong", { class: "dpx-readout-title" });
    this.readoutText = html("span");
    this.remark = html("p", { class: "dpx-note", role: "note" });
    this.termBox = choiceBox("Term", (name) => chooseTerm(this.model, name));
    this.options = shapeOptions(this.model);
    this.clear = button("Clear range", () => choose(this.model, { bin_range: null, second_range: null }));
    this.bandWords = html("p", { class: "dpx-note" });
    this.bandLimits = html("details", { class: "dpx-details dpx-band-limits" },
      html("summary", {}, "Keys, and what the bands mean"), this.bandWords);
    this.table = numbersTable(() => shapeTable(readState(this.model)));
    this.termBox.element.hidden = !standalone;
    this.otherBox = choiceBox("Compare with", (bin) =>
      choose(this.model, { second_bin: bin === "" ? null : Number(bin), second_range: null }));
    this.extremeBox = choiceBox("Ask", (extreme) => choose(this.model, { extreme }));
    this.claim = claimPanel(this.model, [this.extremeBox.element, this.otherBox.element], () =>
      shapeForFigure(readState(this.model), { width: this.width, font: this.font, options: optionsOf(this.model) }));
    const key = html("div", { class: "dpx-key" }, this.legend, this.remark);
    const controls = html("div", { class: "dpx-controls" }, this.options.elements, this.clear);
    this.keep = keepHeights([key, this.claim.element, controls]);
    host.append(
      html("header", { class: "dpx-head" }, html("h3", {}, "Shape of ", this.title), this.termBox.element),
      this.about, key, this.plot,
      html("p", { class: "dpx-readout" }, this.readoutTitle, this.readoutText),
      this.claim.element, controls, this.bandLimits, this.table.element,
    );
  }

  get draws() {
    const draw = this.model.get("replay_draw");
    return Number.isInteger(draw) ? draw : null;
  }

  // The font is read here, because doing so while drawing would make the browser compute all styles.
  resize(width) {
    this.width = width;
    this.font = fontOf(this.plot);
    this.draw();
  }

  draw() {
    const state = readState(this.model);
    if (state.term === undefined || this.width < 40) return;
    const termFit = mainTerm(state);
    this.keep(state.atReference);
    this.drawText(state);
    this.drawPicture(state, termFit);
    const replay = this.replays ? this.draws : null;
    drawLegend(this.legend, state, termFit, { cut: this.drawn.cut, hatchId: this.ids.hatch, replay });
    this.drawControls(state);
    const meaning = termFit.noise_std ? BAND_MEANING : "";
    setText(this.bandWords, `${KEYS}${meaning}${termFit.effect && !termFit.axes ? EFFECT_MEANING : ""}`);
    this.claim.draw(state, askedAbout(state, termFit));
    this.table.draw();
  }

  // All that changes while a reader points or drags.
  drawPicture(state, termFit) {
    const bin = chosenBin(state, termFit.labels.length);
    const [chosen, other] = [chosenRange(state, valueCount(termFit)), secondOf(state, termFit)];
    const [range, second] = this.isSecondDrag ? [chosen, this.dragged ?? other] : [this.dragged ?? chosen, other];
    const contribution = this.draws === null ? null : replayedCurve(termFit, this.draws, state.termIndex);
    this.replays = contribution !== null;
    const view = {
      state, bin, second, range, ids: this.ids, width: this.width, options: optionsOf(this.model),
      font: this.font, replayed: contribution === null ? null : { ...termFit, contribution },
      hovered: this.hovered !== null && this.hovered < termFit.labels.length ? this.hovered : null,
    };
    const numeric = state.term.kind === "numeric";
    const before = this.plot.firstElementChild;
    this.drawn = numeric ? drawNumericShape(view) : drawCategoricalShape(view);
    // Redraw at once, so rows stay scrolled; reading the position would force a layout of the page.
    this.plot.replaceChildren(this.drawn.element);
    if (numeric) this.move(state, before, this.drawn.element);
    this.clear.hidden = range === null && state.secondRange === null;
    this.describe(state, termFit, bin, range);
  }

  drawText(state) {
    setText(this.title, shortName(state.term.name, 120));
    setText(this.about, shortName(state.term.description ?? "", 400));
    this.about.hidden = lettersOf(state.term.description ?? "") === "" ||
      lettersOf(state.term.description) === lettersOf(state.term.name);
    const { effect_remark: remark, effect_warns: warns } = mainTerm(state);
    setText(this.remark, remark || "");
    this.remark.hidden = !remark;
    this.remark.classList.toggle("dpx-caution", Boolean(warns));
  }

  drawControls(state) {
    this.termBox.fill(state.payload.terms.map(({ name }) => [name, shortName(name, 60)]), state.term.name);
    const termFit = mainTerm(state);
    const [range, second] = [chosenRange(state, valueCount(termFit)), secondOf(state, termFit)];
    const alone = (chosenBin(state, termFit.labels.length) === null && range === null) || state.extreme !== "";
    // Hidden, it needs no options.
    this.otherBox.fill(...(alone ? [[], ""] : comparisons(termFit, range, second)));
    this.otherBox.element.hidden = state.atReference || alone;
    this.extremeBox.fill(EXTREMES, state.extreme);
    this.extremeBox.element.hidden = state.atReference;
    this.options.draw(state, this.drawn.even);
  }

  describe(state, termFit, chosen, range) {
    const shownRange = this.hovered === null ? range : this.dragged ?? null;
    const [title, text] = readOut(state, termFit, this.hovered ?? chosen, shownRange);
    setText(this.readoutTitle, title);
    this.readoutTitle.hidden = title === "";
    setText(this.readoutText, text);
    const nothing = chosen === null && range === null;
    setAttributes(this.plot, {
      "aria-label": shapeSummary(state, termFit), "aria-valuemin": 1, "aria-valuemax": termFit.labels.length,
      "aria-valuenow": (chosen ?? 0) + 1,
      "aria-valuetext": nothing ? `no bin of ${quotedName(state.term.name)} chosen`
        : readOut(state, termFit, chosen, range).join(", "),
    });
  }

  listenToPointer() {
    const binUnder = (event) => {
      const frame = this.plot.getBoundingClientRect();
      const [x, y] = [event.clientX - frame.left, event.clientY - frame.top];
      return this.drawn?.binAt(x, y, this.plot.scrollTop) ?? null;
    };
    return [
      listen(this.plot, "pointerdown", (event) => this.startDrag(event, binUnder(event))),
      listen(this.plot, "pointermove", (event) => {
        this.moveTo(binUnder(event), event.buttons);
        this.point(event, binUnder(event));
      }),
      listen(this.plot, "pointerup", () => this.endDrag()),
      listen(this.plot, "pointercancel", () => this.endDrag()),
      listen(this.plot, "pointerleave", () => this.hover(null)),
      listen(this.plot, "click", (event) => this.pick(binUnder(event), event)),
    ];
  }

  point(event, bin) {
    const state = readState(this.model);
    const termFit = mainTerm(state);
    if (bin === null || bin >= termFit.labels.length) this.tip.hide();
    else this.tip.show(event, ...readOut(state, termFit, bin, this.dragged));
  }

  // A mouse or a pen selects bins; a finger scrolls.
  startDrag(event, bin) {
    this.isDragged = false;
    this.dragFrom = event.button === 0 && event.pointerType !== "touch" ? bin : null;
    this.isSecondDrag = isSecondPick(event, readState(this.model));
  }

  moveTo(bin, buttons) {
    if (buttons === 0) this.endDrag(); // released outside the window, without an event
    const from = this.dragFrom ?? null;
    if (from === null || bin === null || (bin === from && !this.isDragged)) {
      this.hover(bin);
      return;
    }
    if (!this.isInOrder) return; // sorted categories have no ranges
    this.isDragged = true;
    this.dragged = orderedRange(from, bin, valueCount(mainTerm(readState(this.model))));
    this.hover(bin);
  }

  endDrag() {
    const range = this.dragged ?? null;
    [this.dragFrom, this.dragged] = [null, null];
    const second = { second_range: range, second_bin: null };
    if (range !== null) choose(this.model, this.isSecondDrag ? second : { bin_range: range, bin_index: null });
  }

  hover(bin) {
    if (bin === this.hovered) return;
    this.hovered = bin;
    const state = readState(this.model);
    if (state.term !== undefined && this.width >= 40) this.drawPicture(state, mainTerm(state));
  }

  pick(bin, event) {
    if (bin === null || this.isDragged) return;
    const state = readState(this.model);
    const { binIndex, secondBin } = state;
    choose(this.model, isSecondPick(event, state)
      ? { second_bin: bin === secondBin ? null : bin, second_range: null }
      : { bin_index: bin === binIndex ? null : bin, bin_range: null });
  }

  orderOf(state) {
    const { categoryOrder } = optionsOf(this.model);
    return rowOrder(mainTerm(state), state.term.kind === "numeric" ? "schema" : categoryOrder);
  }

  get isInOrder() {
    return this.orderOf(readState(this.model)).every((bin, place) => bin === place);
  }

  handleKey(event) {
    const state = readState(this.model);
    if (state.term === undefined) return;
    const count = mainTerm(state).labels.length;
    const layout = state.term.kind === "numeric" ? "line" : "list";
    const before = chosenBin(state, count);
    const order = this.orderOf(state);
    const place = before === null ? null : order.indexOf(before);
    const bin = order[indexAfterKey(event, place, count, layout)] ?? null;
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (event.key === "c" && plain && (before !== null || state.binRange !== null)) {
      this.anchor = null;
      choose(this.model, { second_bin: before, second_range: state.binRange, bin_range: null });
    }
    if (bin === null) return;
    event.preventDefault();
    this.anchor = event.shiftKey && this.isInOrder ? this.anchor ?? before ?? bin : null;
    const range = this.anchor === null ? null : orderedRange(this.anchor, bin, valueCount(mainTerm(state)));
    choose(this.model, { bin_index: bin, bin_range: range });
    this.scrollTo(bin);
  }

  scrollTo(bin) {
    const row = this.drawn?.rowOf?.(bin);
    if (row === undefined) return;
    const { scrollTop, clientHeight } = this.plot;
    const room = clientHeight - this.drawn.headHeight;
    if (row.top < scrollTop) this.plot.scrollTop = row.top;
    if (row.bottom > scrollTop + room) this.plot.scrollTop = row.bottom - room;
  }

  destroy() {
    for (const stop of this.stops) stop();
    this.tip.hide();
    this.options.destroy();
  }
}

const createCurvePanel = creatorOf(ShapePanel);

/** Put the shape of a term, or the heat map of a pair, into `host`. Returns a function that ends it. */
export const createShapePanel = byKind(createCurvePanel, {
  pair: createPairPanel, // a line of its own: pages without pairs leave it out
});
