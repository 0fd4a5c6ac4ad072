// The edit view: repair a curve by hand, at no privacy cost, and keep a log.
import { button, choiceBox } from "../../kit/controls.js";
import { afterNextFrame, html, setAttributes, setText, uniqueId } from "../../kit/dom.js";
import { BinChoice } from "./edit_choice.js";
import { OperationChooser } from "./edit_chooser.js";
import { EditHands } from "./edit_hands.js";
import {} from "./edited_fit.js";
import { authorField, checkpointField, downloadButton, historyList } from "./edit_history.js";
import { drawEditLegend } from "./edit_legend.js";
import { keepLog, logOf, operationsOf, redone, undone, withEdit } from "./edit_log.js";
import { measurePanel } from "./edit_measure.js";
import { createPairEditor } from "./edit_pair.js";
import { afterOperations, effectOf, startCurve, stepsOf } from "./arithmetic/edit_operations.js";
import { drawEditPlot } from "./edit_plot.js";
import { scoreChange, scorePanel } from "./edit_scores.js";
import { axisWords, bandWords, cautionWords, effectWords, operationWords, PAIR, trailWords } from "./edit_words.js";
import { formatNumber, shortName } from "../../kit/format.js";
import { chooseModel } from "../overview/model_choice.js";
import { byKind } from "../../state/by_kind.js";
import { standaloneParts } from "../../kit/standalone.js";
import { CHOICE_KEYS, chooseTerm, drawOnChange, readReleased } from "../../state/state.js";
import { offerTable } from "../../kit/table.js";
import { fontOf } from "../../kit/text.js";
import { creatorOf, observeWidth, viewWidget } from "../../kit/view.js";
import { editTable } from "../../export/view_tables.js";
import { scoreWords } from "../../kit/words.js";

const EDIT_KEYS = [...CHOICE_KEYS, "evaluation"];

const EDIT_HINT = "Drag over bins to select them; drag the curve to move it. Keyboard: arrow keys, " +
  "Shift and arrow keys for a range, Space for single bins, Up and Down to nudge, Ctrl-Z and Ctrl-Y.";

const ALL_CLASSES = "An edit changes the curve of every class; choose another class to see its curve.";

const problemOnly = (problem) => ({ operation: null, curve: null, problem });

class EditPanel {
  constructor(model, host, { standalone = false } = {}) {
    this.model = model;
    this.choice = new BinChoice(model);
    this.hands = new EditHands(this);
    this.width = 0;
    this.scoresWidth = 0;
    this.ids = { clip: uniqueId("clip") };
    this.build(host, standalone);
    this.scoresLater = afterNextFrame(() => this.drawScores());
    this.stops = [
      this.scoresLater.stop,
      drawOnChange(model, EDIT_KEYS, () => this.draw()),
      observeWidth(this.plot, (width) => this.resize(width)),
      observeWidth(this.scores.picture, (width) => this.resizeScores(width)),
      ...this.hands.listen(host),
    ];
    this.draw();
  }

  build(host, standalone) {
    this.title = html("bdi");
    this.termBox = choiceBox("Term", (name) => chooseTerm(this.model, name));
    this.termBox.element.hidden = !standalone;
    const { by_class: byClass } = readReleased(this.model).payload.target;
    this.classBox = standalone && byClass ? choiceBox("Class", (name) => chooseModel(this.model, name)) : null;
    this.stamp = html("span", { class: "dpx-edit-stamp" }, "ε 0");
    this.chooser = new OperationChooser(() => this.draw(), (choice) => this.levelOf(choice));
    this.apply = button("Apply", () => this.applyPreview());
    this.undo = button("Undo", () => keepLog(this.model, undone(logOf(this.model))));
    this.redo = button("Redo", () => keepLog(this.model, redone(logOf(this.model))));
    this.whole = button("Whole curve", () => this.chooseWhole());
    this.legend = html("ul", { class: "dpx-legend" });
    this.plot = html("div", { class: "dpx-plot dpx-edit-plot", role: "slider", tabindex: "0" });
    this.chosenWords = html("p", { class: "dpx-note" });
    this.classes = byClass ? html("p", { class: "dpx-note" }, ALL_CLASSES) : null;
    this.warning = html("p", { class: "dpx-edit-warning", role: "status" });
    this.caution = html("p", { class: "dpx-edit-caution", role: "status" });
    this.effect = html("p", { class: "dpx-note dpx-edit-effect" });
    this.history = historyList(this.model);
    this.author = authorField(this.model);
    this.scores = scorePanel();
    this.measure = measurePanel(this.model);
    this.alone = standalone ? standaloneParts(this.model) : null;
    host.append(
      offerTable(
        html("header", { class: "dpx-head" }, html("h3", {}, "Edit ", this.title), this.stamp,
          ...[this.classBox?.element].filter(Boolean), this.termBox.element),
        () => editTable(this.now)),
      html("div", { class: "dpx-controls" }, ...this.chooser.elements, this.apply, this.undo, this.redo, this.whole),
      this.legend,
      this.plot,
      this.chosenWords,
      ...[this.classes].filter(Boolean),
      this.warning,
      this.caution,
      this.effect,
      html("div", { class: "dpx-edit-panels" },
        html(
          "section", {}, html("h4", {}, "History"), this.history.element, this.author.element,
          checkpointField(this.model), downloadButton(this.model),
        ),
        html("section", {}, this.scores.element, this.measure.element)),
      html("div", { class: "dpx-controls" }, this.alone?.controls),
      ...[this.alone?.sentence].filter(Boolean),
    );
  }

  resize(width) {
    this.width = width;
    this.font = fontOf(this.plot);
    this.draw();
  }

  resizeScores(width) {
    this.scoresWidth = width;
    this.scoresLater.ask();
  }

  // The current curves: as released, as edited, and the preview.
  read() {
    const state = readReleased(this.model);
    const key = this.keyOf(state, state.term);
    this.choice.follow(key);
    const start = this.startOf(state, state.termIndex);
    const operations = operationsOf(logOf(this.model));
    const current = this.safely(() => afterOperations(start, operations), start);
    return { state, key, start, operations, ...current };
  }

  keyOf({ payload, stop, repeat }, term) {
    return [payload.name, stop, repeat, term.name].join("/");
  }

  startOf(state, index) {
    const term = state.payload.terms[index];
    const denoised = this.model.get("denoised")?.[this.keyOf(state, term)];
    return startCurve(term, state.fit.terms[index], Array.isArray(denoised) ? denoised : null);
  }

  safely(compute, fallback) {
    try {
      return { curve: compute(), problem: "" };
    } catch (error) {
      return { curve: fallback, problem: error.message };
    }
  }

  draw() {
    const raw = readReleased(this.model);
    if (raw.term === undefined || this.width < 40) return;
    const now = this.read();
    this.now = now;
    const bins = this.choice.bins(now.state, now.curve);
    const pending = this.pending(now, bins);
    this.drawControls(now, pending);
    drawEditLegend(this.legend, now, pending.curve);
    this.drawn = drawEditPlot({
      curve: now.curve, preview: pending.curve, chosen: bins, cursor: this.hands.cursor, width: this.width,
      font: this.font, ids: this.ids, scoreWords: scoreWords(now.state.payload), about: axisWords(now.state),
      warning: now.state.fit.guarantee.private ? null : "NOT PRIVATE — do not publish",
    });
    this.plot.replaceChildren(this.drawn.element);
    this.describe(now, bins, pending);
    this.history.draw();
    this.measure.draw();
    this.shown = { ...now, curve: pending.curve ?? now.curve };
    this.scoresLater.ask();
  }

  pending(now, bins) {
    if (this.hands.drag?.operation) return this.previewOf(now, this.hands.drag.operation);
    const { chosen } = this.chooser;
    if (chosen === undefined) return problemOnly("");
    if (chosen.name === "denoise" && now.start.denoised === null) return this.askForDenoised(now);
    try {
      return this.previewOf(now, this.chooser.operation(now.state.term, now.curve, bins, this.choice));
    } catch (error) {
      return problemOnly(error.message);
    }
  }

  askForDenoised(now) {
    const answer = this.model.get("denoised")?.[now.key];
    if (typeof answer === "string") return problemOnly(answer);
    if (JSON.stringify(this.model.get("denoise_request") ?? []) !== JSON.stringify([now.key])) {
      this.model.set("denoise_request", [now.key]);
      this.model.save_changes();
    }
    return problemOnly("Denoising needs a Python kernel.");
  }

  previewOf(now, operation) {
    const { curve, problem } = this.safely(() => afterOperations(now.curve, [operation]), null);
    return { operation: curve === null ? null : operation, curve, problem };
  }

  drawControls(now, pending) {
    const { state } = now;
    setText(this.title, shortName(state.term.name, 120));
    this.classBox?.fill(state.models.map(({ name }) => [name, shortName(name, 40)]), state.payload.name);
    this.termBox.fill(state.payload.terms.map((term) => [term.name, shortName(term.name, 60)]), state.term.name);
    this.chooser.draw(now.curve);
    const log = logOf(this.model);
    const buttons = [this.apply, this.undo, this.redo];
    const useless = [pending.operation === null, log.head < 0, log.undone.length === 0];
    for (const [k, pressed] of buttons.entries()) {
      // A button that can no longer be pressed passes the focus on, so that Ctrl-Z still works.
      if (useless[k] && pressed === document.activeElement) this.plot.focus({ preventScroll: true });
      pressed.disabled = useless[k];
    }
  }

  describe(now, bins, pending) {
    const { curve } = now;
    const labels = curve.termFit.labels;
    const isRun = bins.length > 0 && bins.at(-1) - bins[0] + 1 === bins.length;
    const named = isRun ? `${labels[bins[0]]} to ${labels[bins.at(-1)]}` : bins.map((bin) => labels[bin]).join("; ");
    const chosen = bins.length === 0 ? "the whole curve (except special bins)"
      : bins.length === 1 ? labels[bins[0]] : `${bins.length} bins, ${named}`;
    setText(this.chosenWords, `Selected: ${shortName(chosen, 160)}. ${bins.length ? "" : EDIT_HINT}`);
    const shown = pending.curve ?? curve;
    const before = pending.curve ? curve : now.start;
    const effect = effectOf(before, shown);
    const problem = now.problem || pending.problem;
    const leaves = effect.outside > 0;
    this.warning.classList.toggle("dpx-edit-alarm", leaves);
    const which = pending.curve ? "this" : "the edited curve";
    const alarm = `Warning: ${which} ${bandWords(effect)}: the released data contradict this.`;
    setText(this.warning, problem || (leaves ? alarm : ""));
    const mine = now.operations.filter((each) => stepsOf(each).some((step) => step.term === now.state.term.name));
    const careful = cautionWords(pending.operation ? [pending.operation] : mine, now.state.term.monotone, shown);
    setText(this.caution, careful ? `Warning: ${careful}.` : "");
    const words = pending.curve ? operationWords(pending.operation) : "";
    const what = words ? `Preview of “${words}”: ` : "All edits of this curve: ";
    const kept = now.state.fit.guarantee.private;
    setText(this.stamp, kept ? "ε 0" : "NOT PRIVATE");
    const cost = kept ? "adds epsilon 0, from released numbers only" : "NOT PRIVATE";
    setText(this.effect, `${what}${effectWords(effect)}; ${cost}.`);
    const at = Math.min(this.hands.cursor ?? bins.at(-1) ?? 0, labels.length - 1);
    setAttributes(this.plot, {
      "aria-label": `Editable curve of ${shortName(now.state.term.name, 80)}`,
      "aria-valuemin": 1, "aria-valuemax": labels.length, "aria-valuenow": at + 1,
      "aria-valuetext": `${shortName(chosen, 80)}; ${labels[at]} contributes ${formatNumber(curve.values[at])}`,
    });
  }

  // Scores need every term, so the curve being edited is drawn first.
  drawScores() {
    if (this.scoresWidth < 40 || this.shown === undefined) return;
    const { state, operations, curve } = this.shown;
    const isEdited = (term) => operations.some((each) => stepsOf(each).some((step) => step.term === term.name));
    const isPair = (term) => term.kind === "pair";
    const edited = state.payload.terms.map((term, i) => {
      if (i === state.termIndex) return curve;
      if (isPair(term) || !isEdited(term)) return null;
      return this.safely(() => afterOperations(this.startOf(state, i), operations), null).curve;
    });
    this.scores.draw(scoreChange(state.fit, edited), state.payload.score_unit, this.scoresWidth);
    this.scores.omitPairs(state.payload.terms.some((term) => isPair(term) && isEdited(term)));
    const placeOf = (name) => state.payload.terms.findIndex((term) => term.name === name);
    this.history.describe(trailWords(logOf(this.model), (name) => {
      const place = placeOf(name);
      if (place < 0) return null;
      return isPair(state.payload.terms[place]) ? PAIR : this.startOf(state, place);
    }));
  }

  levelOf(choice) {
    if (choice.name !== "set") return Number(this.drawn.nudge.toPrecision(6));
    const bins = this.choice.bins(this.now.state, this.now.curve);
    return Number((this.now.curve.values[bins[0] ?? 0]).toPrecision(6));
  }

  applyPreview() {
    const pending = this.pending(this.now, this.choice.bins(this.now.state, this.now.curve));
    if (pending.operation === null) return;
    this.chooser.clear();
    this.keep(pending.operation);
  }

  keep(operation) {
    keepLog(this.model, withEdit(logOf(this.model), operation, this.author.signature()));
  }

  chooseWhole() {
    this.choice.clear();
    this.draw();
  }

  destroy() {
    for (const stop of this.stops) stop();
    this.alone?.destroy();
  }
}

const createCurveEditor = creatorOf(EditPanel);

/** Put the edit view into `host`. Returns a function that ends it. */
export const createEdit = byKind(createCurveEditor, { pair: createPairEditor });

export default viewWidget("edit", createEdit);
