// The claim below a chart: the answer to a question, and the epsilons at which the claim holds.
import { claimOf, claimStrip, typicalShares } from "./claims.js";
import { basisWords, claimWords, frequencyWords, stripWords } from "./claim_words.js";
import { addToFigure } from "../../export/figure.js";
import { button } from "../../kit/controls.js";
import { html, setText } from "../../kit/dom.js";
import { formatEpsilon, formatNumber, formatSigned } from "../../kit/format.js";
import { choose } from "../../state/choosing.js";

const CLAIM_UNKNOWN = {
  rank: "The page makes no claims about this curve: it was edited, its errors are unknown, or the model has too " +
    "many terms. Open the page of the fit as released, or use dpexplain.explain.claim() in Python.",
  decision: "The page makes no claim about this prediction: the errors of a curve or pair are unknown, or the model " +
    "was edited.",
  limit: "To make a claim about this prediction, enter a threshold.",
  range: "A range makes a claim if it leaves a bin to compare with.",
  ranges: "Two ranges make a claim if they have no bin in common, and no special bin.",
};
const EXTREME_UNKNOWN = "The page makes no claim about the highest or lowest bin here: it needs a curve with known " +
  "errors, and a range that leaves a value bin to compare with.";
Object.assign(CLAIM_UNKNOWN, { highest: EXTREME_UNKNOWN, lowest: EXTREME_UNKNOWN });
const CLAIM_OF_PAIR = "Choose a cell, drag over a region, or Ctrl-click a second cell to make a claim about the pair.";
const CLAIM_OPEN = "Claims are made from private fits: choose an ε.";
const CLAIM_NO_FIT = "Claims are made from private fits; this model is not private.";
const CLAIM_SIGNS = {
  holds: "✓", reversed: "↔", "may be noise": "~", "may be noise or hidden by shrinkage": "?", "not resolved": "·",
};

function needsThreshold({ payload, fit }, { kind, threshold = null }) {
  return kind === "decision" && Boolean(fit.claims) && payload.link !== "softmax" && threshold === null;
}

function claimCellWords({ epsilon, claim, state }, { kind }) {
  const number = kind === "rank" ? formatNumber : formatSigned;
  const numbers = claim === null ? "" : `: ${number(claim.estimate)}, 95% between ${number(claim.low)} and ` +
    `${number(claim.high)}`;
  return `ε = ${formatEpsilon(epsilon)}: ${state}${numbers}`;
}

/** One cell of a strip, as an element of any kind. */
function stripCell(tag, each, attributes) {
  const sign = html("span", { class: "dpx-claim-sign", "aria-hidden": "true" }, CLAIM_SIGNS[each.state]);
  const names = { class: "dpx-claim-cell", "data-state": each.state.replaceAll(" ", "-") };
  return html(tag, { ...names, ...attributes }, sign, html("span", {}, formatEpsilon(each.epsilon)));
}

/** A claim as shown in a figure. */
function claimCopy(said) {
  const cells = said.strip.map((each) => stripCell("span", each, {}));
  return html("div", { class: "dpx-claim" },
    ...said.texts.filter(Boolean).map((text) => html("p", { class: "dpx-claim-words" }, text)),
    html("div", { class: "dpx-claim-strip", "aria-hidden": "true" }, cells.length > 1 ? cells : []));
}

/**
 * The claim below a chart: `element` to place, `draw(state, question)` after changes. `pictureFor()` draws
 * the chart for a figure: {key, title, elements}, or a text that says why that is not allowed.
 * @param {import("../../types").Model} model
 */
export function claimPanel(model, controls, pictureFor) {
  const words = html("p", { class: "dpx-claim-words", role: "status" });
  const often = html("p", { class: "dpx-claim-words" });
  const strip = html("div", { class: "dpx-claim-strip", role: "group", "aria-label": "The claim at every ε" });
  const more = html("p", { class: "dpx-note" });
  const status = html("span", { class: "dpx-note", role: "status" });
  let said = null;
  const add = button("Add to figure", () => {
    const picture = pictureFor();
    const released = typeof picture !== "string";
    if (released) addToFigure(model, { ...picture, claim: { ...said, copy: claimCopy(said) } });
    setText(status, released ? "added below" : picture);
  });
  const tools = html("div", { class: "dpx-controls dpx-claim-tools" }, controls, add, status);
  const element = html("section", { class: "dpx-claim", "aria-label": "Can I say this?" },
    words, often, strip, more, tools);

  const cell = (each, question, chosen) => {
    const text = claimCellWords(each, question);
    const made = stripCell("button", each, {
      type: "button", title: text, "aria-label": text, "aria-pressed": String(chosen),
    });
    made.addEventListener("click", () => choose(model, { epsilon_index: each.stop }));
    return made;
  };

  const drawStrip = (found, state, question) => {
    const focused = Array.from(strip.children).indexOf(document.activeElement);
    strip.replaceChildren(...found.map((each) => cell(each, question, each.stop === state.stop)));
    strip.children[focused]?.focus();
  };

  /** Show a claim: {claim, found, texts, basis, unknown}; `texts` are the claim, its frequencies and its epsilons. */
  const show = (state, question, { claim, found, texts, basis, unknown }) => {
    if (said?.texts[0] !== texts[0]) setText(status, "");
    said = { epsilon: state.fit.epsilon, claim, texts, strip: found };
    setText(words, texts[0] ?? unknown);
    setText(often, texts[1] ?? "");
    setText(more, claim === null ? "" : `${texts[2]} ${basis}`.trim());
    drawStrip(found, state, question);
    often.hidden = !texts[1];
    strip.hidden = found.length < 2;
    more.hidden = claim === null;
    add.hidden = claim === null;
  };

  const draw = (state, question) => {
    const claim = state.atReference ? null : claimOf(state, state.fit, question);
    const isPair = question.kind !== "decision" && state.term.kind === "pair";
    const found = claim === null ? [] : claimStrip(state, question);
    const texts = claim === null ? [] : [
      claimWords(state, question, claim), frequencyWords(state, question, typicalShares(state, question, claim)),
      found.length < 2 ? "" : stripWords(found),
    ];
    const unknown = state.atReference ? (state.payload.epsilons.length ? CLAIM_OPEN : CLAIM_NO_FIT)
      : isPair && question.bins.length === 0 ? CLAIM_OF_PAIR
        : CLAIM_UNKNOWN[needsThreshold(state, question) ? "limit" : question.kind] ?? CLAIM_UNKNOWN.rank;
    const basis = claim === null ? "" : basisWords(claim, question, isPair);
    show(state, question, { claim, found, texts, basis, unknown });
  };
  return { element, draw, show };
}
