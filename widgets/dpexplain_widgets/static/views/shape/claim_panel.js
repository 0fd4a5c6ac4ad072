// The claim about two bins, in words, and where it holds over epsilon.
import { claimOf, claimStrip } from "./claims.js";
import { choiceBox } from "../../kit/controls.js";
import { html, setText } from "../../kit/dom.js";
import { formatEpsilon, formatNumber, formatSigned, quotedName, shortName } from "../../kit/format.js";
import { choose, chosenBin } from "../../state/state.js";

const CLAIM_HINT = "Can I say this? Choose a second bin to compare with: Ctrl-click it, press c and move on, or " +
  "choose it here.";
const CLAIM_UNKNOWN = "The page makes no claims about this curve: its errors are unknown, it was edited, or it has " +
  "too many bins for a page. In Python, dpexplain.explain.claim() compares any two bins of a released curve.";
const CLAIM_OPEN = "Claims are made from private fits: choose an ε.";
const CLAIM_BASES = {
  effect: "It refers to the estimated effect on people, with noise, sampling and shrinkage in its interval.",
  noise: "It refers to the released curve without its noise; a short fit shrinks curves, so the effect can be larger.",
};
const CLAIM_SIGNS = {
  holds: "✓", reversed: "↔", "may be noise": "~", "may be noise or hidden by shrinkage": "?", "not resolved": "·",
};

/** What is higher or lower, in the unit of the score. */
function claimedScore({ link, target }) {
  if (link === "logit" || link === "softmax") {
    const shown = link === "softmax" ? target.shown_class : target.classes.at(-1);
    return `odds of ${quotedName(target.name, 24)} = ${quotedName(shown, 24)}`;
  }
  return link === "log" ? `expected ${quotedName(target.name, 24)}` : quotedName(target.name, 24);
}

function claimTimes(link, estimate) {
  if (link === "identity") return "";
  return ` (${link === "log" ? "" : "odds "}× ${formatNumber(Math.exp(estimate))})`;
}

/**
 * The claim as a sentence.
 * @param {import("../../types").State} state
 */
export function claimWords({ payload, term, fit, stop }, [one, other], claim) {
  const name = quotedName(term.name, 40);
  const labels = fit.terms[payload.terms.indexOf(term)].labels;
  const way = claim.estimate > 0 ? "higher" : "lower";
  const unit = payload.score_unit ? ` ${shortName(payload.score_unit, 40)}` : "";
  const doubt = claim.basis === "effect" ? "; may be noise" : "; may be noise or hidden by shrinkage";
  const at = fit.guarantee.private ? `At ε = ${formatEpsilon(payload.epsilons[stop])}` : "NOT PRIVATE: in this fit";
  return `${at}, records with ${name} = ${quotedName(labels[one], 40)} have ` +
    `${way} ${claimedScore(payload)} than records with ${name} = ${quotedName(labels[other], 40)}, other features ` +
    `equal: ${formatSigned(claim.estimate)}${unit}${claimTimes(payload.link, claim.estimate)}, 95% between ` +
    `${formatSigned(claim.low)} and ${formatSigned(claim.high)}${claim.holds ? "" : doubt}.`;
}

/** Where the claim holds, as a sentence. */
export function stripWords(strip) {
  const holding = strip.filter(({ state }) => state === "holds");
  const names = holding.map(({ epsilon }) => formatEpsilon(epsilon));
  if (holding.length === 0) return "The claim holds at no ε shown.";
  if (holding.length === strip.length) return "The claim holds at every ε shown.";
  const upwards = strip.slice(strip.indexOf(holding[0])).every(({ state }) => state === "holds");
  return upwards ? `The claim holds from ε = ${names[0]}.` : `The claim holds at ε = ${names.join(", ")} only.`;
}

function claimCellWords({ epsilon, claim, state }) {
  const numbers = claim === null ? "" : `: ${formatSigned(claim.estimate)}, 95% between ${formatSigned(claim.low)} ` +
    `and ${formatSigned(claim.high)}`;
  return `ε = ${formatEpsilon(epsilon)}: ${state}${numbers}`;
}

/**
 * The claim below a chart: `element` to place, `draw(state, termFit)` after changes.
 * @param {import("../../types").Model} model
 */
export function claimPanel(model) {
  const box = choiceBox("Compare with", (bin) => choose(model, { second_bin: bin === "" ? null : Number(bin) }));
  const words = html("p", { class: "dpx-claim-words", role: "status" });
  const strip = html("div", { class: "dpx-claim-strip", role: "group", "aria-label": "The claim at every ε" });
  const more = html("p", { class: "dpx-note" });
  const element = html("section", { class: "dpx-claim" }, box.element, words, strip, more);

  const cell = (each, chosen) => {
    const sign = html("span", { class: "dpx-claim-sign", "aria-hidden": "true" }, CLAIM_SIGNS[each.state]);
    const button = html("button", {
      type: "button", class: "dpx-claim-cell", "data-state": each.state.replaceAll(" ", "-"),
      title: claimCellWords(each), "aria-label": claimCellWords(each), "aria-pressed": String(chosen),
    }, sign, html("span", {}, formatEpsilon(each.epsilon)));
    button.addEventListener("click", () => choose(model, { epsilon_index: each.stop }));
    return button;
  };

  const say = (state, one, other) => {
    const claim = claimOf(state.fit.terms[state.termIndex], one, other);
    const found = claimStrip(state, one, other);
    setText(words, claimWords(state, [one, other], claim));
    const focused = Array.from(strip.children).indexOf(document.activeElement);
    strip.replaceChildren(...found.map((each) => cell(each, each.stop === state.stop)));
    strip.children[focused]?.focus();
    strip.hidden = found.length < 2;
    setText(more, `${found.length < 2 ? "" : `${stripWords(found)} `}${CLAIM_BASES[claim.basis]}`);
  };

  const draw = (state, termFit) => {
    const labels = termFit.labels;
    const one = chosenBin(state, labels.length);
    const other = chosenBin({ ...state, binIndex: state.secondBin }, labels.length);
    element.hidden = one === null && other === null;
    const options = labels.map((label, i) => [String(i), shortName(label, 40)]);
    box.fill([["", "no other bin"], ...options], String(other ?? ""));
    const known = !state.atReference && Boolean(state.fit.terms[state.termIndex].claims);
    const both = known && one !== null && other !== null && one !== other;
    strip.hidden = !both;
    more.hidden = !both;
    if (both) say(state, one, other);
    else setText(words, state.atReference ? CLAIM_OPEN : known ? CLAIM_HINT : CLAIM_UNKNOWN);
  };
  return { element, draw };
}
