// The shape view: one term of one fit, with everything that puts it in perspective.
import { checkbox, choiceBox } from "./controls.js";
import { mainTerm } from "./curves.js";
import { html, listen, setText, uniqueId } from "./dom.js";
import { quotedName, shortName } from "./format.js";
import { indexAfterKey } from "./keyboard.js";
import { drawLegend } from "./legend.js";
import { drawCategoricalShape } from "./shape_categorical.js";
import { drawNumericShape } from "./shape_numeric.js";
import { standaloneParts } from "./standalone.js";
import { CHOICE_KEYS, choose, chooseTerm, chosenBin, drawOnChange, readState } from "./state.js";
import { numbersTable, shapeTable } from "./table.js";
import { fontOf } from "./text.js";
import { observeWidth, viewWidget } from "./view.js";
import { BAND_MEANING, binSentence, binTitle, shapeSummary } from "./words.js";

const HINT = "Point at a bin, or focus the chart and use the arrow keys, to read its numbers.";

class ShapePanel {
  constructor(model, host, { standalone = false } = {}) {
    this.model = model;
    this.hovered = null;
    this.width = 0;
    this.options = { everyEpsilon: true, evenBins: null };
    this.ids = { hatch: uniqueId("hatch"), clip: uniqueId("clip") };
    this.build(host, standalone);
    this.stops = [
      drawOnChange(model, CHOICE_KEYS, () => this.draw()),
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
    this.plot = html("div", { class: "dpx-plot", role: "slider", tabindex: "0" });
    this.readoutTitle = html("strong", { class: "dpx-readout-title" });
    this.readoutText = html("span");
    this.termBox = choiceBox("Term", (name) => chooseTerm(this.model, name));
    this.repeatBox = choiceBox("Fit", (i) => choose(this.model, { repeat: Number(i) }));
    this.sameAxis = checkbox("Same axis at every ε", true, (on) => this.change({ everyEpsilon: on }));
    this.evenBins = checkbox("Bins equally wide", false, (on) => this.change({ evenBins: on }));
    this.bandLimits = html("details", { class: "dpx-details dpx-band-limits" },
      html("summary", {}, "What the noise bands mean"), html("p", { class: "dpx-note" }, BAND_MEANING));
    this.table = numbersTable(() => shapeTable(readState(this.model)));
    this.termBox.element.hidden = !standalone;
    const controls = [this.repeatBox, this.sameAxis, this.evenBins].map((each) => each.element);
    this.alone = standalone ? standaloneParts(this.model) : null;
    host.append(
      html("header", { class: "dpx-head" }, html("h3", {}, "Shape of ", this.title), this.termBox.element),
      this.about,
      this.legend,
      this.plot,
      html("p", { class: "dpx-readout" }, this.readoutTitle, this.readoutText),
      html("div", { class: "dpx-controls" }, this.alone?.controls, controls),
      ...[this.alone?.sentence, this.bandLimits, this.table.element].filter(Boolean),
    );
  }

  change(options) {
    Object.assign(this.options, options);
    this.draw();
  }

  // The font is asked for here: asking while drawing would make the browser settle all styles.
  resize(width) {
    this.width = width;
    this.font = fontOf(this.plot);
    this.draw();
  }

  draw() {
    const state = readState(this.model);
    if (state.term === undefined || this.width < 40) return;
    const termFit = mainTerm(state);
    const bin = chosenBin(state, termFit.labels.length);
    this.drawText(state);
    const view = {
      state, bin, ids: this.ids, width: this.width, options: this.options, font: this.font,
      hovered: this.hovered !== null && this.hovered < termFit.labels.length ? this.hovered : null,
    };
    const numeric = state.term.kind === "numeric";
    const scrolled = this.plot.scrollTop;
    this.drawn = numeric ? drawNumericShape(view) : drawCategoricalShape(view);
    this.plot.classList.toggle("dpx-plot-rows", !numeric);
    this.plot.replaceChildren(this.drawn.element);
    this.plot.scrollTop = scrolled;
    drawLegend(this.legend, state, termFit, { cut: this.drawn.cut, hatchId: this.ids.hatch });
    this.drawControls(state, numeric);
    this.bandLimits.hidden = !termFit.noise_std;
    this.describe(state, termFit, bin);
    this.table.draw();
  }

  drawText(state) {
    setText(this.title, shortName(state.term.name, 120));
    setText(this.about, shortName(state.term.description ?? "", 400));
    this.about.hidden = !state.term.description;
  }

  drawControls(state, numeric) {
    const names = state.payload.terms.map((term) => [term.name, shortName(term.name, 60)]);
    this.termBox.fill(names, state.term.name);
    const fits = state.fits.map((_, i) => [String(i), `${i + 1} of ${state.fits.length}`]);
    this.repeatBox.fill(fits, String(state.repeat));
    this.repeatBox.element.hidden = state.fits.length < 2;
    this.sameAxis.element.hidden = state.payload.epsilons.length < 2;
    this.evenBins.element.hidden = !numeric;
    this.evenBins.input.checked = numeric && this.drawn.even;
  }

  describe(state, termFit, chosen) {
    const bin = this.hovered ?? chosen;
    const known = bin !== null && bin < termFit.labels.length;
    setText(this.readoutTitle, known ? binTitle(state.term, termFit, bin) : "");
    this.readoutTitle.hidden = !known;
    setText(this.readoutText, known ? binSentence(state, termFit, bin) : HINT);
    const plot = this.plot;
    plot.setAttribute("aria-label", shapeSummary(state, termFit));
    plot.setAttribute("aria-valuemin", "1");
    plot.setAttribute("aria-valuemax", String(termFit.labels.length));
    plot.setAttribute("aria-valuenow", String((chosen ?? 0) + 1));
    const words = chosen === null
      ? `no bin of ${quotedName(state.term.name)} chosen`
      : `${binTitle(state.term, termFit, chosen)}, ${binSentence(state, termFit, chosen)}`;
    plot.setAttribute("aria-valuetext", words);
  }

  listenToPointer() {
    const binUnder = (event) => {
      const frame = this.plot.getBoundingClientRect();
      const [x, y] = [event.clientX - frame.left, event.clientY - frame.top];
      return this.drawn?.binAt(x, y, this.plot.scrollTop) ?? null;
    };
    return [
      listen(this.plot, "pointermove", (event) => this.hover(binUnder(event))),
      listen(this.plot, "pointerleave", () => this.hover(null)),
      listen(this.plot, "click", (event) => this.pick(binUnder(event))),
    ];
  }

  hover(bin) {
    if (bin === this.hovered) return;
    this.hovered = bin;
    this.draw();
  }

  pick(bin) {
    if (bin === null) return;
    const state = readState(this.model);
    choose(this.model, { bin_index: bin === state.binIndex ? null : bin });
  }

  handleKey(event) {
    const state = readState(this.model);
    if (state.term === undefined) return;
    const count = mainTerm(state).labels.length;
    const layout = state.term.kind === "numeric" ? "line" : "list";
    const bin = indexAfterKey(event, chosenBin(state, count), count, layout);
    if (bin === null) return;
    event.preventDefault();
    choose(this.model, { bin_index: bin });
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
    this.alone?.destroy();
  }
}

/** Put the shape view into `host`. Returns a function that ends it. */
export function createShape(model, host, options) {
  const panel = new ShapePanel(model, host, options);
  return () => panel.destroy();
}

export default viewWidget("shape", createShape);
