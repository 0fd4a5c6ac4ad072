// The overview: the choice of epsilon, its guarantee, and the quality of the model.
import { button } from "../../kit/controls.js";
import { html, setText } from "../../kit/dom.js";
import { formatEpsilon, formatNumber, shortName } from "../../kit/format.js";
import { modelChoice } from "./model_choice.js";
import { createPlayer } from "./player.js";
import { kendallTau, placesOf, rankedTerms } from "../rank/ranks.js";
import { referenceToggle } from "../../state/reference_toggle.js";
import { createScrubber } from "./scrubber.js";
import { CHOICE_KEYS, choose, drawOnChange, readState } from "../../state/state.js";
import { offerTable } from "../../kit/table.js";
import { viewWidget } from "../../kit/view.js";
import { overviewTable } from "../../export/view_tables.js";
import { epsilonWords, guaranteeDetail, guaranteeSentence } from "../../kit/words.js";

function metricRange(state, name) {
  const values = state.fits.map((fit) => fit.metrics[name]).filter((value) => value !== undefined);
  if (values.length < 2) return null;
  return `${formatNumber(Math.min(...values))} to ${formatNumber(Math.max(...values))} in ${values.length} fits`;
}

// Only these are in the unit of the target: an R² of 0.4 visits would be nonsense.
const IN_TARGET_UNIT = new Set(["RMSE", "MAE"]);

function metricUnit(payload, name) {
  const { unit } = payload.target;
  if (!unit || payload.link === "logit" || !IN_TARGET_UNIT.has(name.toUpperCase())) return null;
  return html("span", { class: "dpx-metric-name" }, html("bdi", {}, shortName(unit, 24)));
}

function metricCard(state, name) {
  const notes = [];
  const range = metricRange(state, name);
  if (range !== null) notes.push(html("div", { class: "dpx-card-note" }, range));
  const reference = state.atReference ? undefined : state.reference?.metrics[name];
  if (reference !== undefined) {
    const words = `non-private reference ${formatNumber(reference)}`;
    notes.push(html("div", { class: "dpx-card-note dpx-reference-text" }, words));
  }
  return html(
    "div", { class: "dpx-metric" },
    html("div", { class: "dpx-metric-line" },
      html("span", { class: "dpx-metric-name" }, shortName(name, 24)),
      html("span", { class: "dpx-big" }, formatNumber(state.fit.metrics[name])),
      metricUnit(state.payload, name)),
    notes,
  );
}

/** Agreement of the term ranking with the pinned fit, or else with the reference. */
function rankAgreement(state) {
  const other = state.pinned ?? (state.atReference ? null : state.reference);
  const ranked = rankedTerms(state.payload);
  if (!other || ranked.length < 3) return null;
  const places = (fit) => ranked.map((i) => placesOf(fit)[i]);
  const tau = formatNumber(kendallTau(places(state.fit), places(other)), 2);
  const open = !other.guarantee.private;
  const whose = state.pinned ? "the pinned fit" : "the reference";
  return html("div", {
    class: `dpx-card-note ${open ? "dpx-reference-text" : ""}`,
    title: "Kendall’s τ: 1 for the same order, 0 for unrelated orders, −1 for the reverse",
  }, `τ = ${tau} with the order of terms in ${whose}${open ? ", not releasable" : ""}`);
}

class Overview {
  constructor(model, host, { standalone = false } = {}) {
    this.model = model;
    this.scrubber = createScrubber(model);
    this.player = createPlayer(model);
    this.toggle = referenceToggle(model);
    this.models = modelChoice(model);
    this.build(host, standalone);
    this.stop = drawOnChange(model, CHOICE_KEYS, () => this.draw());
    this.draw();
  }

  build(host, standalone) {
    this.title = html("bdi");
    this.pin = button("", () => this.togglePin());
    this.big = html("div", { class: "dpx-big dpx-epsilon" });
    this.detail = html("div", { class: "dpx-card-note" });
    this.sentence = html("p", { class: "dpx-sentence" });
    this.statement = html("p", { class: "dpx-statement" });
    this.metrics = html("div", { class: "dpx-card dpx-metrics" });
    this.noise = html("div", { class: "dpx-card dpx-noise-card" });
    const full = html("details", { class: "dpx-details" }, html("summary", {}, "Full statement"), this.statement);
    this.guarantee = html("div", { class: "dpx-card dpx-guarantee" }, this.big, this.detail, this.sentence, full);
    const buttons = html("div", { class: "dpx-controls" }, this.player.element, this.pin);
    host.append(
      offerTable(html("header", { class: "dpx-head" },
        html(standalone ? "h3" : "h2", {}, this.title), this.toggle.element),
      () => overviewTable(readState(this.model))),
      this.models.element,
      html("div", { class: "dpx-overview-grid" },
        html("div", { class: "dpx-scale" },
          html("div", { class: "dpx-scale-title" },
            html("strong", {}, "Privacy parameter ε"), html("span", {}, "smaller is more private")),
          this.scrubber.element, buttons),
        this.guarantee, this.noise, this.metrics),
    );
  }

  togglePin() {
    const state = readState(this.model);
    const epsilon = state.payload.epsilons[state.stop];
    const pinned = state.pinnedStop === state.stop || epsilon === undefined ? null : epsilon;
    choose(this.model, { pinned_epsilon: pinned });
  }

  draw() {
    const state = readState(this.model);
    this.drawTitle(shortName(state.payload.title || "Explanation", 160));
    if (state.fit === undefined) return;
    this.scrubber.draw();
    this.models.draw();
    this.drawGuarantee(state);
    this.drawNoise(state);
    this.drawMetrics(state);
    this.drawPin(state);
    this.player.draw();
  }

  // Long camel-case words may break before a capital letter.
  drawTitle(text) {
    if (this.title.textContent === text) return;
    const words = text.split(/(?<=[a-z])(?=[A-Z])/);
    this.title.replaceChildren(...words.flatMap((word, i) => (i === 0 ? [word] : [html("wbr"), word])));
  }

  drawGuarantee(state) {
    const { guarantee } = state.fit;
    const words = guarantee.private ? epsilonWords(state) : "NOT PRIVATE — do not publish";
    setText(this.big, words);
    setText(this.detail, guaranteeDetail(guarantee));
    setText(this.sentence, guaranteeSentence(guarantee));
    setText(this.statement, guarantee.statement);
    this.guarantee.classList.toggle("dpx-not-private", !guarantee.private);
  }

  drawMetrics(state) {
    const names = Object.keys(state.fit.metrics);
    this.metrics.hidden = names.length === 0;
    const note = html("div", { class: "dpx-card-note" }, "diagnostic, not private");
    this.metrics.replaceChildren(
      ...names.map((name) => metricCard(state, name)),
      ...(names.length ? [note] : []),
    );
  }

  drawNoise(state) {
    const { noise_words: words, effect_words: effects, effect_caution: caution } = state.fit;
    const agreement = rankAgreement(state);
    this.noise.hidden = !words && agreement === null;
    const [, count, rest] = words?.match(/^(\d+ of \d+)?([^]*)$/) ?? [];
    const big = count ? html("span", { class: "dpx-big" }, count) : null;
    this.noise.replaceChildren(
      ...(words ? [html("p", { class: "dpx-sentence dpx-noise-words" }, big, rest)] : []),
      ...[effects, caution].filter(Boolean).map((text) => html("p", { class: "dpx-sentence dpx-effect-words" }, text)),
      ...(agreement === null ? [] : [agreement]));
  }

  drawPin(state) {
    const many = state.payload.epsilons.length > 1;
    this.pin.hidden = !many || (state.atReference && state.pinnedStop < 0);
    const here = state.pinnedStop === state.stop || (state.atReference && state.pinnedStop >= 0);
    const epsilon = formatEpsilon(state.payload.epsilons[here ? state.pinnedStop : state.stop]);
    setText(this.pin, here ? `Unpin ε = ${epsilon}` : `Pin ε = ${epsilon} to compare`);
    this.pin.setAttribute("aria-pressed", String(here));
  }

  destroy() {
    this.stop();
    this.scrubber.destroy();
    this.player.destroy();
    this.toggle.destroy();
  }
}

/**
 * Put the overview into `host`. Returns a function that ends it.
 * @param {import("../../types").Model} model
 */
export function createOverview(model, host, options) {
  const overview = new Overview(model, host, options);
  return () => overview.destroy();
}

export default viewWidget("overview", createOverview);
