// The rank view: feature rank by epsilon, with rank intervals.
import { html, listen, setText } from "../../kit/dom.js";
import { formatEpsilon, quotedName, shortName } from "../../kit/format.js";
import { indexAfterKey } from "../../kit/keyboard.js";
import { RankChart } from "./rank_chart.js";
import { placesOf, rankColumns, rankedTerms } from "./ranks.js";
import { standaloneParts } from "../../kit/standalone.js";
import { choose } from "../../state/choosing.js";
import { CHOICE_KEYS, chooseTerm, drawOnChange, readState } from "../../state/state.js";
import { numbersTable, plainTable } from "../../kit/table.js";
import { LIST_KEYS, listControls, listedTerms } from "../../state/term_list.js";
import { fontOf } from "../../kit/text.js";
import { creatorOf, observeWidth, viewWidget } from "../../kit/view.js";
import { atFitWords, placeWords, spokenNoise } from "../../kit/words.js";

/**
 * The rank of a term in the selected fit, in words.
 * @param {import("../../types").State} state
 */
function rankWords(state, i) {
  const term = state.fit.terms[i];
  if (term.axes) return `${quotedName(state.payload.terms[i].name, 48)}: pairs of features have no rank`;
  const place = `rank ${placesOf(state.fit)[i]} of ${rankedTerms(state.payload).length} ${atFitWords(state)}`;
  const noise = spokenNoise(term).replace(/^, rank/, "; could be rank");
  return `${quotedName(state.payload.terms[i].name, 48)}: ${place}${noise}`;
}

function ribbonBasis({ payload }) {
  const byEffect = payload.fits.flat().some((fit) => fit.terms[0].effect_size);
  return byEffect
    ? " by the estimated effect in the population; lines rank released curves, so a line can leave the ribbon"
    : "";
}

const OTHERS_MATTER = "Ranks compare all terms: if one has a warning or note, the ranks of others may be wrong, too.";

function aboutRanks(state, listed) {
  const joint = state.payload.fits.flat().some((fit) => fit.terms[0].ranks);
  const marks = state.payload.fits.flat().some((fit) => typeof fit.terms[0].above_noise === "boolean");
  const remarked = state.fit?.terms.some((term) => term.effect_remark);
  const total = rankedTerms(state.payload).length;
  return [
    "Noise decreases from left to right; the term on the top line is the most important.",
    marks ? "Filled points and solid lines rise above the noise; hollow points and dashed or thin lines do not." : "",
    joint ? `The ribbon shows the 95% rank interval of the selected term${ribbonBasis(state)}.` : "",
    joint && remarked ? OTHERS_MATTER : "",
    total > listed ? `${listed} of ${total} terms are listed.` : "",
  ].filter(Boolean).join(" ");
}

class RankPanel {
  constructor(model, host, { standalone = false } = {}) {
    this.model = model;
    this.width = 0;
    this.alone = standalone ? standaloneParts(model) : null;
    this.controls = standalone ? listControls(model) : null;
    this.build(host);
    this.stops = [
      drawOnChange(model, [...CHOICE_KEYS, ...LIST_KEYS], () => this.draw()),
      observeWidth(this.plot, (width) => this.resize(width)),
      listen(this.plot, "click", (event) => this.pick(event)),
      listen(this.plot, "keydown", (event) => this.handleKey(event)),
    ];
    this.draw();
  }

  build(host) {
    this.about = html("p", { class: "dpx-note" });
    this.plot = html("div", { class: "dpx-plot dpx-rank-plot", role: "slider", tabindex: "0" });
    const mark = "not releasable: the last column is the non-private reference";
    this.mark = html("p", { class: "dpx-rank-mark" }, mark);
    this.readout = html("p", { class: "dpx-readout" });
    this.table = numbersTable(() => this.asTable());
    host.append(
      html("header", { class: "dpx-head" }, html("h3", {}, "Feature rank by ε")),
      this.about,
      ...[this.controls?.element].filter(Boolean),
      this.plot, this.mark, this.readout,
      ...(this.alone ? [html("div", { class: "dpx-controls" }, this.alone.controls), this.alone.sentence] : []),
      this.table.element,
    );
  }

  resize(width) {
    this.width = width;
    this.font = fontOf(this.plot);
    this.draw();
  }

  draw() {
    const state = readState(this.model);
    if (state.term === undefined) return;
    this.state = state;
    this.controls?.draw(state);
    this.listed = listedTerms(this.model, state).filter((i) => !state.fit.terms[i].axes);
    this.mark.hidden = state.reference === null || state.payload.fits.length === 0;
    this.describe(state);
    this.table.draw();
    if (this.width < 40 || this.listed.length === 0) return;
    const view = { state, listed: this.listed, width: this.width, font: this.font };
    if (this.drawn?.isFor(view)) this.drawn.update(view);
    else this.buildChart(view);
  }

  buildChart(view) {
    this.drawn = new RankChart(view);
    this.plot.replaceChildren(this.drawn.element);
  }

  describe(state) {
    const { terms, epsilons } = state.payload;
    setText(this.about, aboutRanks(state, this.listed.length));
    const words = rankWords(state, state.termIndex);
    setText(this.readout, `${words}.`);
    const places = placesOf(state.fit);
    const name = `Ranks of ${this.listed.length} of ${terms.length} terms at ${epsilons.length} values of epsilon`;
    this.plot.setAttribute("aria-label", name);
    this.plot.setAttribute("aria-orientation", "vertical");
    this.plot.setAttribute("aria-valuemin", "1");
    this.plot.setAttribute("aria-valuemax", String(places.length));
    this.plot.setAttribute("aria-valuenow", String(places[state.termIndex]));
    this.plot.setAttribute("aria-valuetext", words);
  }

  pick(event) {
    const frame = this.plot.getBoundingClientRect();
    const y = event.clientY - frame.top;
    const i = this.drawn?.termAt(event.clientX - frame.left, y < 34 ? y : y + this.plot.scrollTop) ?? null;
    if (i !== null) chooseTerm(this.model, this.state.payload.terms[i].name);
  }

  handleKey(event) {
    const { state } = this;
    const across = event.key === "ArrowLeft" || event.key === "ArrowRight";
    if (across) {
      const stop = indexAfterKey(event, state.stop, state.stopCount);
      if (stop === null) return;
      event.preventDefault();
      choose(this.model, { epsilon_index: stop });
      return;
    }
    const places = placesOf(state.fit);
    const order = [...this.listed].sort((a, b) => places[a] - places[b]);
    const place = order.indexOf(state.termIndex);
    const next = indexAfterKey(event, place < 0 ? null : place, order.length, "list");
    if (next === null) return;
    event.preventDefault();
    chooseTerm(this.model, state.payload.terms[order[next]].name);
    this.scrollTo(order[next]);
  }

  scrollTo(i) {
    const [top, bottom] = this.drawn.rowOf(i);
    const { scrollTop, clientHeight } = this.plot;
    if (top - 34 < scrollTop) this.plot.scrollTop = top - 34;
    if (bottom > scrollTop + clientHeight) this.plot.scrollTop = bottom - clientHeight;
  }

  asTable() {
    const { state } = this;
    const columns = rankColumns(state);
    const text = ({ places, fit }, i) => {
      const { ranks } = fit.terms[i];
      return ranks ? `${places[i]} (${placeWords(ranks)})` : String(places[i]);
    };
    const { terms, epsilons } = state.payload;
    const rows = this.listed.map((i) => [shortName(terms[i].name, 80), ...columns.map((each) => text(each, i))]);
    const heads = columns.map(({ stop, isReference }) =>
      (isReference ? "non-private reference" : `ε = ${formatEpsilon(epsilons[stop])}`));
    return plainTable(["term", ...heads], rows);
  }

  destroy() {
    for (const stop of this.stops) stop();
    this.alone?.destroy();
  }
}

/** Put the rank view into a host. */
export const createRank = creatorOf(RankPanel);

export default viewWidget("rank", createRank);
