// A term of two features: its heat map and its cells.
import { askedAboutPair } from "../claim/pair_claims.js";
import { claimPanel } from "../claim/claim_panel.js";
import { choiceBox } from "../../kit/controls.js";
import { mainTerm, watermarkText } from "../../charts/curves.js";
import { html, listen, setAttributes, setText, uniqueId } from "../../kit/dom.js";
import { formatEpsilon, formatSigned, quotedName, shortName } from "../../kit/format.js";
import { cellPlace, drawHeatMap, heatScale, pairShape } from "./heat_map.js";
import { chosenRegions, pairForFigure, regionHands } from "./pair_regions.js";
import { isTyping } from "../../kit/keyboard.js";
import { choose } from "../../state/choosing.js";
import { CHOICE_KEYS, chooseTerm, chosenBin, drawOnChange, readState } from "../../state/state.js";
import { numbersTable, shapeTable } from "../../kit/table.js";
import { fontOf } from "../../kit/text.js";
import { pointerTip } from "../../charts/tip.js";
import { creatorOf, observeWidth } from "../../kit/view.js";
import { binSentence, binsInsideNoise, fitWords, scoreWords } from "../../kit/words.js";

const PAIR_HINT = "Point, or press arrow keys, to read a cell. Drag, or hold Shift, for a region. To compare two, " +
  "Ctrl-click or Ctrl-drag, or press c and move on.";
const PAIR_LIMITS = "Cells are drawn with equal size; missing values come last. Bands hold for all cells together.";
const CELL_STEPS = {
  ArrowUp: [1, 0], ArrowDown: [-1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
  PageUp: [5, 0], PageDown: [-5, 0], Home: [0, -Infinity], End: [0, Infinity],
};

/** Bins of a cell in words: "age 30 – 34, job nurse". */
function cellWords(termFit, cell) {
  return cellPlace(termFit, cell).map((place, k) => {
    const { name, unit, labels, special } = termFit.axes[k];
    const inUnit = unit && place < labels.length - special.length ? ` ${quotedName(unit, 24)}` : "";
    return `${quotedName(name, 48)} ${quotedName(labels[place], 48)}${inUnit}`;
  }).join(", ");
}

/** The cell to which a key moves; null for other keys. */
export function cellAfterKey(event, cell, termFit) {
  const step = CELL_STEPS[event.key];
  if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return null;
  if (cell === null) return 0;
  const [rows, columns] = pairShape(termFit);
  const [row, column] = cellPlace(termFit, cell).map((place, k) =>
    Math.max(0, Math.min([rows, columns][k] - 1, place + step[k])));
  return row * columns + column;
}

/** The cell under the pointer, [term, cell]; null if it belonged to another pair. */
export function pointedCell(pointed, term) {
  return pointed !== null && pointed[0] === term ? pointed[1] : null;
}

function pairSummary(state, termFit) {
  const { contribution } = termFit;
  const [rows, columns] = pairShape(termFit);
  const extreme = (best) => {
    const value = best(...contribution);
    return `${formatSigned(value)} at ${cellWords(termFit, contribution.indexOf(value))}`;
  };
  const inside = binsInsideNoise(termFit);
  const noise = inside === null ? "" : `; ${inside} of ${contribution.length} may be noise`;
  return `Heat map of ${quotedName(state.term.name)}: ${rows} by ${columns} cells, from ` +
    `${extreme(Math.min)} to ${extreme(Math.max)}${noise}`;
}

/** Words for a pair that the model shown does not have, with the epsilons at which it exists. */
function absentWords(state) {
  const { epsilons, fits } = state.payload;
  const others = epsilons.filter((_, stop) => fits[stop].some((fit) => !fit.terms[state.termIndex].absent));
  const where = `The ${state.atReference ? "" : "model at "}${fitWords(state)}`;
  const elsewhere = others.length ? `; models at ε = ${others.map(formatEpsilon).join(", ")} have it` : "";
  return `${where} does not have this pair of features${elsewhere}.`;
}

class PairPanel {
  constructor(model, host, { standalone = false } = {}) {
    this.model = model;
    this.pointed = null;
    this.hands = regionHands(model);
    this.width = 0;
    this.hatchId = uniqueId("hatch");
    this.build(host, standalone);
    this.root = host.closest(".dpx") ?? host;
    this.themes = new MutationObserver(() => this.draw());
    this.themes.observe(this.root, { attributes: true, attributeFilter: ["data-theme"] });
    this.stops = [
      drawOnChange(model, CHOICE_KEYS, () => this.draw()),
      observeWidth(this.plot, (width) => this.resize(width)),
      listen(this.plot, "pointerdown", (event) => this.hands.start(event, this.cellUnder(event))),
      listen(this.plot, "pointermove", (event) => {
        const cell = this.cellUnder(event);
        this.hands.move(event, cell);
        this.hover(cell);
        const state = readState(this.model);
        if (cell === null) this.tip.hide();
        else this.tip.show(event, ...this.readOut(state, mainTerm(state), cell));
      }),
      listen(this.plot, "pointerup", () => this.hands.end()),
      listen(this.plot, "pointerleave", () => this.hover(null)),
      listen(this.plot, "click", (event) => this.hands.pick(event, this.cellUnder(event))),
      listen(this.plot, "keydown", (event) => this.handleKey(event)),
      () => this.themes.disconnect(),
      () => this.tip.hide(),
    ];
    this.draw();
  }

  build(host, standalone) {
    this.title = html("bdi");
    this.about = html("p", { class: "dpx-note" });
    this.scale = html("p", { class: "dpx-heat-scale" });
    this.plot = html("div", { class: "dpx-plot", role: "slider", tabindex: "0", "aria-roledescription": "heat map" });
    this.tip = pointerTip(this.plot);
    this.readoutTitle = html("strong", { class: "dpx-readout-title" });
    this.readoutText = html("span");
    this.termBox = choiceBox("Term", (name) => chooseTerm(this.model, name));
    this.termBox.element.hidden = !standalone;
    this.table = numbersTable(() => shapeTable(readState(this.model)));
    this.absent = html("p", { class: "dpx-note", role: "status" });
    this.claim = claimPanel(this.model, [], () => pairForFigure(readState(this.model), this));
    this.present = [
      this.scale, this.plot,
      html("p", { class: "dpx-readout" }, this.readoutTitle, this.readoutText),
      this.claim.element,
      html("p", { class: "dpx-note" }, PAIR_LIMITS),
      this.table.element,
    ];
    host.append(
      html("header", { class: "dpx-head" }, html("h3", {}, "Heat map of ", this.title), this.termBox.element),
      this.about, this.absent, ...this.present,
    );
  }

  resize(width) {
    this.width = width;
    this.font = fontOf(this.plot);
    this.draw();
  }

  draw() {
    const state = readState(this.model);
    if (state.term?.kind !== "pair") return;
    const termFit = mainTerm(state);
    const { absent = false } = termFit;
    for (const each of this.present) each.hidden = absent;
    setText(this.absent, absent ? absentWords(state) : "");
    setText(this.title, shortName(state.term.name, 120));
    setText(this.about, shortName(state.term.description ?? "", 400));
    this.termBox.fill(state.payload.terms.map((each) => [each.name, shortName(each.name, 60)]), state.term.name);
    if (!absent && this.width >= 40) this.drawPair(state, termFit);
  }

  drawPair(state, termFit) {
    const cell = chosenBin(state, termFit.labels.length);
    const pointed = pointedCell(this.pointed, state.term.name);
    const marked = [[pointed, "pointed"], ...chosenRegions(state, termFit)].filter(([each]) => each !== null);
    const { width, font, root, hatchId } = this;
    this.drawn = drawHeatMap({ termFit, width, font, root, mark: watermarkText(state), marked, hatchId });
    this.plot.replaceChildren(this.drawn.element);
    this.scale.replaceChildren(html("span", {}, `Adds to ${scoreWords(state.payload)}, in colors from`),
      ...heatScale(termFit, root, hatchId));
    this.describe(state, termFit, { cell, pointed });
    this.claim.draw(state, askedAboutPair(state, termFit));
    this.table.draw();
  }

  readOut(state, termFit, cell) {
    if (cell === null) return ["", PAIR_HINT];
    return [cellWords(termFit, cell), binSentence(state, termFit, cell)];
  }

  describe(state, termFit, { cell, pointed }) {
    const [title, text] = this.readOut(state, termFit, pointed ?? cell);
    setText(this.readoutTitle, title);
    this.readoutTitle.hidden = title === "";
    setText(this.readoutText, text);
    const spoken = this.readOut(state, termFit, cell).join(", ");
    setAttributes(this.plot, {
      "aria-label": pairSummary(state, termFit), "aria-valuemin": 1, "aria-valuemax": termFit.labels.length,
      "aria-valuenow": (cell ?? 0) + 1,
      "aria-valuetext": cell === null ? `no cell of ${quotedName(state.term.name)} chosen` : spoken,
    });
  }

  cellUnder(event) {
    const { left, top } = this.plot.getBoundingClientRect();
    return this.drawn?.cellAt(event.clientX - left, event.clientY - top) ?? null;
  }

  hover(cell) {
    const { term } = readState(this.model);
    if (cell === pointedCell(this.pointed, term?.name)) return;
    this.pointed = cell === null ? null : [term.name, cell];
    this.draw();
  }

  handleKey(event) {
    const state = readState(this.model);
    if (state.term?.kind !== "pair" || isTyping(event)) return;
    const termFit = mainTerm(state);
    const before = chosenBin(state, termFit.labels.length);
    if (event.key === "c" && !event.ctrlKey && !event.metaKey && !event.altKey && before !== null) {
      choose(this.model, { second_bin: before, second_range: state.binRange, bin_range: null });
    }
    const next = cellAfterKey(event, before, termFit);
    if (next === null) return;
    event.preventDefault();
    this.hands.step(event, before, next, termFit);
  }

  destroy() {
    for (const stop of this.stops) stop();
  }
}

/** Put the heat map of a pair into a host. */
export const createPairPanel = creatorOf(PairPanel);
