// The local view: contributions to one score, and the certainty of their signs and the decision.
import {
  explainValues, flips, normalCertainty, predictionOf, shownValues, signWord, thresholdScore,
} from "./contributions.js";
import { chanceOf, classWords } from "./class_probabilities.js";
import { claimPanel } from "../claim/claim_panel.js";
import { choiceBox } from "../../kit/controls.js";
import { html, listen, setText, svg, uniqueId } from "../../kit/dom.js";
import { formatNumber, formatValue, formatSigned, plural, quotedName, shortName } from "../../kit/format.js";
import { comparedFits, localForFigure } from "./local_figure.js";
import { indexAfterKey } from "../../kit/keyboard.js";
import { peopleTable } from "./people_table.js";
import { predictionChart } from "./prediction_chart.js";
import { pointMark } from "../../charts/legend.js";
import { standaloneParts } from "../../kit/standalone.js";
import { choose } from "../../state/choosing.js";
import { CHOICE_KEYS, chooseTerm, drawOnChange, readState } from "../../state/state.js";
import { numbersTable, plainTable } from "../../kit/table.js";
import { fontOf } from "../../kit/text.js";
import { drawWaterfall, waterfallOrder, waterfallRows } from "./waterfall.js";
import { creatorOf, observeWidth, viewWidget } from "../../kit/view.js";
import { whatIfInputs } from "./what_if.js";
import { fitWords, predictionName, scoreWords } from "../../kit/words.js";

const LOCAL_KEYS = [...CHOICE_KEYS, "sample", "what_if", "threshold"];
const TYPICAL = "typical values";

/** Why the picture must not be shared, or null. */
function localMark(state, sampleShown, others) {
  if (!state.fit.guarantee.private) return "NOT PRIVATE — do not publish";
  if (sampleShown && !state.samples.public) return "not releasable: a record";
  return others.some(({ role }) => role === "reference") ? "not releasable" : null;
}

/** A probability in percent, never rounded to 100. */
export function certaintyWords(certainty) {
  return certainty > 0.999 ? "more than 99.9%" : `${formatNumber(100 * certainty, 3)}%`;
}

/**
 * Probability of the side of the threshold; "" if unknown.
 * @param {import("../../types").Payload} payload
 */
export function crossingWords(payload, explained, threshold) {
  const at = thresholdScore(payload.link, threshold);
  if (at === null || explained.scoreStd === null) return "";
  const certainty = normalCertainty(explained.score - at, explained.scoreStd);
  const side = explained.score >= at ? "above" : "below";
  const shown = payload.link === "logit" ? threshold ?? 0.5 : threshold;
  return `${side} ${formatNumber(shown)} with ${certaintyWords(certainty)} certainty given total uncertainty ` +
    "(assuming independent errors)";
}

class LocalPanel {
  constructor(model, host, { standalone = false, below = host } = {}) {
    this.model = model;
    this.width = 0;
    this.ids = { hatch: uniqueId("hatch") };
    this.alone = standalone ? standaloneParts(model) : null;
    this.build(host, below);
    this.stops = [
      drawOnChange(model, LOCAL_KEYS, () => this.draw()),
      observeWidth(this.plot, (width) => this.resize(width)),
      listen(this.plot, "click", (event) => this.pick(event)),
      listen(this.plot, "keydown", (event) => this.handleKey(event)),
    ];
    this.draw();
  }

  build(host, below) {
    this.sampleBox = choiceBox("Sample", (place) =>
      choose(this.model, { sample: place === "" ? null : Number(place), what_if: {} }));
    this.origin = html("p", { class: "dpx-note" });
    this.prediction = html("p", { class: "dpx-local-sum", role: "status" });
    this.crossing = html("p", { class: "dpx-note" });
    this.classes = html("p", { class: "dpx-local-classes" });
    const id = uniqueId("threshold");
    this.threshold = html("input", { id, type: "number", step: "any" });
    this.threshold.addEventListener("change", () => this.setThreshold());
    this.thresholdBox = html("span", { class: "dpx-choice" }, html("label", { for: id }, "Threshold"), this.threshold);
    this.legend = html("ul", { class: "dpx-legend" });
    const role = { role: "slider", tabindex: "0", "aria-orientation": "vertical" };
    this.plot = html("div", { class: "dpx-plot dpx-waterfall", ...role });
    this.readout = html("p", { class: "dpx-readout" });
    this.inputs = whatIfInputs(this.model);
    this.table = numbersTable(() => this.asTable(), false);
    this.claim = claimPanel(this.model, this.thresholdBox, () => localForFigure(this));
    this.people = peopleTable(this.model);
    this.chart = predictionChart();
    host.append(
      html("header", { class: "dpx-head" }, html("h3", {}, "Why this prediction?"), this.sampleBox.element),
      this.origin, this.classes, this.prediction, this.crossing, this.legend, this.plot, this.readout,
      this.claim.element, this.chart.element, this.people.element,
      html("div", { class: "dpx-controls" }, this.alone?.controls),
      ...[this.alone?.sentence].filter(Boolean),
      this.table.element,
    );
    below.append(this.inputs.element);
  }

  resize(width) {
    this.width = width;
    this.font = fontOf(this.plot);
    this.draw();
  }

  setThreshold() {
    const text = this.threshold.value.trim();
    const value = Number(text);
    const share = ["logit", "softmax"].includes(this.state.payload.link);
    const allowed = text !== "" && Number.isFinite(value) && (!share || (value > 0 && value < 1));
    choose(this.model, { threshold: allowed ? value : null });
    this.draw();
  }

  draw() {
    const state = readState(this.model);
    if (state.term === undefined) return;
    this.state = state;
    this.values = shownValues(this.model, state);
    this.explained = explainValues(state.fit, this.values);
    this.others = comparedFits(state, this.values);
    const ruling = explainValues(state.payload.fits.at(-1)?.[0] ?? state.fit, this.values);
    this.order = waterfallOrder(ruling.parts);
    this.rows = waterfallRows(state.fit, this.explained, this.order);
    this.drawWords(state);
    this.claim.draw(state, this.question);
    this.chart.draw(state, this.values, this.question.threshold, this.width);
    this.people.draw(state, this.question.threshold, this.sample);
    this.inputs.draw(state, this.values, this.order.terms.filter((i) => state.payload.terms[i].kind !== "pair"));
    this.table.draw();
    if (this.width < 40) return;
    this.drawn = drawWaterfall({
      state, rows: this.rows, others: this.others, ids: this.ids, width: this.width, font: this.font,
      mark: localMark(state, this.sample !== null, this.others), valueText: (i) => this.valueText(i),
    });
    this.plot.replaceChildren(this.drawn.element);
  }

  get question() {
    return { kind: "decision", bins: [], values: this.values, threshold: this.model.get("threshold") ?? null };
  }

  get sample() {
    const place = this.model.get("sample");
    return this.state.samples?.rows[place] ? place : null;
  }

  valueText(i) {
    const { kind, is_date: isDate } = this.state.payload.terms[i];
    const text = (value, k) => {
      if (value === null || value === undefined) return "missing";
      const axis = kind === "pair" ? this.state.fit.terms[i].axes[k] : { is_date: isDate };
      return typeof value === "number" ? formatValue(axis, value) : shortName(value, 40);
    };
    return [this.values[i]].flat().map(text).join(", ");
  }

  drawWords(state) {
    const names = state.samples?.names ?? [];
    const options = names.map((name, k) => [String(k), shortName(name, 40)]);
    this.sampleBox.fill([["", TYPICAL], ...options], String(this.sample ?? ""));
    this.sampleBox.element.hidden = names.length === 0;
    setText(this.origin, this.originWords(state));
    this.origin.classList.toggle("dpx-reference-text", this.sample !== null && !state.samples.public);
    setText(this.prediction, this.predictionWords(state));
    const crossing = crossingWords(state.payload, this.explained, this.model.get("threshold") ?? null);
    setText(this.crossing, crossing === "" ? "" : `The prediction is ${crossing}.`);
    this.crossing.hidden = crossing === "" || Boolean(state.fit.claims); // the claim below says more
    setText(this.classes, classWords(state, this.values));
    this.classes.hidden = !state.payload.target.by_class;
    this.thresholdBox.hidden = state.payload.link === "softmax";
    if (document.activeElement !== this.threshold) {
      const usual = state.payload.link === "logit" ? 0.5 : "";
      this.threshold.value = String(this.model.get("threshold") ?? usual);
    }
    this.drawLegend(state);
    this.describe(state);
  }

  originWords(state) {
    const changed = Object.keys(this.model.get("what_if") ?? {}).length;
    const made = changed ? ` ${plural(changed, "value")} changed.` : "";
    if (this.sample === null) {
      return `Typical values: the median of every number and the largest category, by noisy counts.${made}`;
    }
    const word = state.samples.public
      ? "Sample marked as public."
      : "Sample not marked as public: do not publish this picture.";
    return `${word}${made}`;
  }

  predictionWords(state) {
    const { payload } = state;
    const text = (explained, chance) => {
      const value = chance ?? predictionOf(payload.link, explained.score);
      return value === null ? `score ${formatSigned(explained.score)}` : formatNumber(value);
    };
    const others = this.others.map(({ words, explained, chance }) => `${text(explained, chance)} (${words})`);
    const ownOf = (values, explained) => text(explained, chanceOf(state, state.fit, values));
    const given = shownValues(this.model, state, {});
    const isChanged = Object.keys(this.model.get("what_if") ?? {}).length > 0;
    const before = isChanged ? `, before the change ${ownOf(given, explainValues(state.fit, given))}` : "";
    const own = `${ownOf(this.values, this.explained)} (${fitWords(state)}${before})`;
    return [`${predictionName(payload)}: ${own}`, ...others].join(" · ");
  }

  drawLegend(state) {
    const size = { width: 30, height: 16, class: "dpx-swatch", "aria-hidden": "true" };
    const item = (marks, text) =>
      html("li", { class: "dpx-legend-item" }, svg("svg", size, marks), html("span", {}, text));
    const bar = svg("rect", { x: 1, y: 2, width: 28, height: 12, class: "dpx-bar dpx-bar-main" });
    const whisker = svg("path", { d: "M3 8H27M3 4V12M27 4V12", class: "dpx-whisker" });
    const uncertain = svg("rect", { x: 1, y: 2, width: 28, height: 12, fill: `url(#${this.ids.hatch})` });
    const noise = this.explained.parts.some((part) => part.std);
    this.legend.replaceChildren(
      item([bar], `adds to ${scoreWords(state.payload)}`),
      ...(noise ? [item([bar.cloneNode(), uncertain], "hatched: sign is uncertain")] : []),
      ...(noise ? [item([whisker], "two standard deviations (total uncertainty)")] : []),
      ...this.others.map(({ role, words }) => item([pointMark(role, 15, 8)], words)),
    );
  }

  rowWords(i) {
    const part = this.explained.parts[i];
    const name = quotedName(this.state.payload.terms[i].name, 48);
    const value = `${name} = \u2068${this.valueText(i)}\u2069 (bin \u2068${shortName(part.label, 40)}\u2069)`;
    const sign = signWord(part);
    const certainty = sign === null ? "" : ` ± ${formatNumber(2 * part.std, 2)}, sign ${sign} ` +
      `(${certaintyWords(normalCertainty(part.value, part.std))})`;
    const others = this.others.map(({ words, explained }) => {
      const flip = flips(part, explained.parts[i]) ? ", the sign flips" : "";
      return `${words}: ${formatSigned(explained.parts[i].value)}${flip}`;
    });
    return [`${value}: ${formatSigned(part.value)}${certainty}`, ...others].join(" · ");
  }

  describe(state) {
    const words = this.rowWords(state.termIndex);
    setText(this.readout, words);
    const flipped = this.others.filter(({ role }) => role === "reference").flatMap(({ explained }) =>
      this.explained.parts.filter((part, i) => flips(part, explained.parts[i]))).length;
    const uncertain = this.explained.parts.filter((part) => signWord(part) === "uncertain").length;
    const count = plural(state.payload.terms.length, "term");
    this.plot.setAttribute("aria-label", `Contributions of ${count}: ${uncertain} of uncertain sign, ${flipped} flip`);
    this.plot.setAttribute("aria-valuemin", "1");
    this.plot.setAttribute("aria-valuemax", String(this.order.terms.length));
    this.plot.setAttribute("aria-valuenow", String(Math.max(1, this.order.terms.indexOf(state.termIndex) + 1)));
    this.plot.setAttribute("aria-valuetext", words);
  }

  pick(event) {
    const row = this.drawn?.rowAt(event.clientY - this.plot.getBoundingClientRect().top);
    if (row?.kind === "term") chooseTerm(this.model, this.state.payload.terms[row.i].name);
  }

  handleKey(event) {
    const place = this.order.terms.indexOf(this.state.termIndex);
    const next = indexAfterKey(event, place < 0 ? null : place, this.order.terms.length, "list");
    if (next === null) return;
    event.preventDefault();
    chooseTerm(this.model, this.state.payload.terms[this.order.terms[next]].name);
  }

  asTable() {
    const { terms } = this.state.payload;
    const heads = ["term", "value", "bin", "contribution", "sign", ...this.others.map(({ words }) => words)];
    const rows = [...this.order.terms, ...this.order.rest].map((i) => {
      const part = this.explained.parts[i];
      return [
        shortName(terms[i].name, 80), this.valueText(i), shortName(part.label, 60), formatSigned(part.value, 4),
        signWord(part) ?? "–",
        ...this.others.map(({ explained }) => formatSigned(explained.parts[i].value, 4)),
      ];
    });
    return plainTable(heads, rows);
  }

  destroy() {
    for (const stop of this.stops) stop();
    this.alone?.destroy();
  }
}

/** Put the local view into a host. */
export const createLocal = creatorOf(LocalPanel);

export default viewWidget("local", createLocal);
