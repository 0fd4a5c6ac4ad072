// The overview: the choice of epsilon, its guarantee, and the quality of the model.
import { button, checkbox } from "../../kit/controls.js";
import { breakable, html, setText } from "../../kit/dom.js";
import { formatEpsilon, formatNumber, shortName } from "../../kit/format.js";
import { modelChoice } from "./model_choice.js";
import { createPlayer } from "./player.js";
import { kendallTau, placesOf, rankedTerms } from "../rank/ranks.js";
import { referenceToggle } from "../../state/reference_toggle.js";
import { createScrubber } from "./scrubber.js";
import { choose } from "../../state/choosing.js";
import { CHOICE_KEYS, canShowEdited, drawOnChange, readState } from "../../state/state.js";
import { offerTable } from "../../kit/table.js";
import { creatorOf, viewWidget } from "../../kit/view.js";
import { overviewTable } from "../../export/view_tables.js";
import { epsilonWords, guaranteeDetail, guaranteeSentence } from "../../kit/words.js";

function metricRange(state, name) {
  const values = state.fits.map((fit) => fit.metrics[name]).filter((value) => value !== undefined);
  if (values.length < 2) return "";
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
  return html("div", { class: "dpx-metric-line", title: metricRange(state, name) },
    html("span", { class: "dpx-metric-name" }, shortName(name, 24)),
    html("span", { class: "dpx-big" }, formatNumber(state.fit.metrics[name])),
    metricUnit(state.payload, name));
}

/** What the bar has no room for: the range of a metric over fits, and its value in the reference. */
function metricNotes(state) {
  return Object.keys(state.fit.metrics).flatMap((name) => {
    const notes = [];
    const range = metricRange(state, name);
    if (range !== "") notes.push(html("p", { class: "dpx-card-note" }, `${shortName(name, 24)}: ${range}`));
    const reference = state.atReference ? undefined : state.reference?.metrics[name];
    if (reference !== undefined) {
      const words = `${shortName(name, 24)} of the non-private reference: ${formatNumber(reference)}`;
      notes.push(html("p", { class: "dpx-card-note dpx-reference-text" }, words));
    }
    return notes;
  });
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

/** Keep the bar in sight while the page scrolls: `host` sticks where what is above the bar is out of sight. */
function stickAt(host, bar, above) {
  const observer = new ResizeObserver(() => {
    const height = bar.getBoundingClientRect().top - host.getBoundingClientRect().top;
    host.style.setProperty("--dpx-above", `${height}px`);
  });
  for (const each of above) observer.observe(each);
  return () => observer.disconnect();
}

class Overview {
  constructor(model, host, { standalone = false } = {}) {
    this.model = model;
    this.scrubber = createScrubber(model);
    this.player = createPlayer(model);
    this.toggle = referenceToggle(model);
    this.edited = checkbox("Edited", false, (on) => choose(model, { show_edited: on }));
    this.edited.element.title = "Show the curves as edited in all views, not as released";
    this.models = modelChoice(model);
    this.build(host, standalone);
    this.stop = drawOnChange(model, CHOICE_KEYS, () => this.draw());
    this.draw();
  }

  build(host, standalone) {
    this.title = html("bdi");
    this.pin = button("", () => this.togglePin());
    this.big = html("strong", { class: "dpx-big dpx-epsilon" });
    this.chips = html("span", { class: "dpx-chips" });
    this.count = html("span", { class: "dpx-chip dpx-noise-count" });
    this.sentence = html("p", { class: "dpx-sentence" });
    this.statement = html("p", { class: "dpx-statement" });
    this.metrics = html("div", { class: "dpx-metrics" });
    this.noise = html("div", { class: "dpx-card dpx-noise-card" });
    this.notes = html("div");
    this.alarms = html("div", { class: "dpx-alarms", role: "status" });
    this.guarantee = html("div", { class: "dpx-guarantee" }, this.big, this.chips);
    const buttons = html("div", { class: "dpx-bar-buttons" }, this.player.element, this.pin);
    const promise = html("div", { class: "dpx-card" }, this.sentence, this.statement, this.notes);
    const details = html("details", { class: "dpx-details dpx-overview-more", open: standalone },
      html("summary", {}, "Guarantee and noise"),
      html("div", { class: "dpx-overview-grid" }, promise, this.noise));
    const head = offerTable(html("header", { class: "dpx-head" },
      html(standalone ? "h3" : "h2", {}, this.title), this.edited.element, this.toggle.element),
    () => overviewTable(readState(this.model)));
    const meaning = "Privacy parameter: smaller is more private";
    const letter = html("span", { class: "dpx-scale-title", title: meaning }, "ε");
    const bar = html("div", { class: "dpx-sticky" },
      html("div", { class: "dpx-scale" }, letter, this.scrubber.element), buttons,
      this.guarantee, this.count, this.metrics);
    const above = [head, this.alarms, this.models.element, details];
    host.append(...above, bar);
    this.unstick = stickAt(host, bar, above);
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
    this.edited.element.hidden = !canShowEdited(this.model);
    this.edited.input.checked = this.model.get("show_edited") === true;
    this.drawGuarantee(state);
    this.drawAlarms(state);
    this.drawNoise(state);
    this.drawMetrics(state);
    this.drawPin(state);
    this.player.draw();
  }

  drawTitle(text) {
    if (this.title.textContent !== text) this.title.replaceChildren(...breakable(text));
  }

  drawGuarantee(state) {
    const { guarantee } = state.fit;
    const words = guarantee.private ? epsilonWords(state) : "NOT PRIVATE — do not publish";
    setText(this.big, words);
    const chips = guaranteeDetail(guarantee).split(" · ").map((text) => html("span", { class: "dpx-chip" }, text));
    this.chips.replaceChildren(...chips);
    setText(this.sentence, guaranteeSentence(guarantee));
    setText(this.statement, guarantee.statement);
    this.guarantee.classList.toggle("dpx-not-private", !guarantee.private);
  }

  // A screen reader reads the alarms again only if they differ from those at the last epsilon.
  drawAlarms(state) {
    const alarms = state.fit.alarms ?? [];
    const lines = alarms.map((words) => `Health check: ${words}`);
    this.alarms.hidden = lines.length === 0;
    if (lines.join("\n") === this.saidAlarms) return;
    this.saidAlarms = lines.join("\n");
    this.alarms.replaceChildren(...lines.map((line) => html("p", { class: "dpx-sentence" }, line)));
  }

  drawMetrics(state) {
    const names = Object.keys(state.fit.metrics);
    this.metrics.hidden = names.length === 0;
    const note = html("div", { class: "dpx-card-note" }, "diagnostic, not private");
    this.metrics.replaceChildren(
      ...names.map((name) => metricCard(state, name)),
      ...(names.length ? [note] : []),
    );
    this.notes.replaceChildren(...metricNotes(state));
  }

  drawNoise(state) {
    const { noise_words: words, effect_words: effects, effect_remark: remark } = state.fit;
    const agreement = rankAgreement(state);
    this.noise.hidden = !words && agreement === null;
    // Of models whose terms are not counted, such as trees and filters, the bar says nothing.
    const above = state.fit.terms_above_noise ?? null, total = state.payload.terms.length;
    const count = above === total ? "all" : above === 0 ? "none" : `${above} of ${total}`;
    this.count.hidden = above === null;
    setText(this.count, above === null ? "" : `${count} above noise`);
    this.noise.replaceChildren(
      ...[words, effects, remark].filter(Boolean).map((text) => html("p", { class: "dpx-sentence" }, text)),
      ...(agreement === null ? [] : [agreement]));
  }

  drawPin(state) {
    const many = state.payload.epsilons.length > 1;
    this.pin.hidden = !many || (state.atReference && state.pinnedStop < 0);
    const here = state.pinnedStop === state.stop || (state.atReference && state.pinnedStop >= 0);
    const epsilon = formatEpsilon(state.payload.epsilons[here ? state.pinnedStop : state.stop]);
    setText(this.pin, here ? "Unpin" : "Pin");
    this.pin.setAttribute("aria-label", here ? `Unpin ε = ${epsilon}` : `Pin ε = ${epsilon} to compare`);
    this.pin.title = this.pin.getAttribute("aria-label");
    this.pin.setAttribute("aria-pressed", String(here));
  }

  destroy() {
    this.stop();
    this.scrubber.destroy();
    this.player.destroy();
    this.toggle.destroy();
    this.unstick();
  }
}

/** Put the overview into a host. */
export const createOverview = creatorOf(Overview);

export default viewWidget("overview", createOverview);
