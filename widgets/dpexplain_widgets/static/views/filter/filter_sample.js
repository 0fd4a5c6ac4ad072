// Why one sample gets its class: the sample, the evidence for the class, and the deciding filters.
import { html, setText, svg } from "../../kit/dom.js";
import { choiceBox } from "../../kit/controls.js";
import { MapReader } from "./filter_detail.js";
import { FilterEpsilons } from "./filter_epsilons.js";
import { activeFilters, rankedClasses } from "./filter_data.js";
import { mapPicture } from "./filter_grid.js";
import { LayerSlider } from "./filter_layers.js";
import { greyEnds } from "./filter_overlay.js";
import { contributionTable } from "./filter_tables.js";
import { layerWords, sampleScaleWords, sampleSentence, additionSentence } from "./filter_words.js";
import { formatNumber, formatShare, formatSigned, quotedName, shortName } from "../../kit/format.js";
import { choose } from "../../state/choosing.js";
import { offerTable } from "../../kit/table.js";
import { fitWords } from "../../kit/words.js";

const BARS = { height: 92, wide: 22, narrow: 5 };

const LARGEST_OF_SAMPLE = { picture: 236, rows: 560 };

const OPEN_SAMPLE = "Not releasable: this sample is not marked as public.";

function largestOf(values) {
  return values.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
}

/** A bar for each share, the largest in another color, and a line at equal shares. */
function shareBars(shares, width) {
  const step = Math.max(BARS.narrow, Math.min(BARS.wide, width / shares.length));
  const largest = Math.max(...shares, 1.5 / shares.length);
  const top = shares.indexOf(Math.max(...shares));
  const bars = Array.from(shares, (share, m) => {
    const height = Math.max(0.5, (share / largest) * (BARS.height - 4));
    const role = m === top ? "dpx-share-top" : "dpx-bar-main";
    const frame = { x: m * step + step * 0.1, y: BARS.height - height, width: step * 0.8, height };
    const title = svg("title", {}, `filter ${m}: ${formatShare(share, 2)}`);
    return svg("rect", { ...frame, class: `dpx-bar ${role}` }, title);
  });
  const even = BARS.height - ((1 / shares.length) / largest) * (BARS.height - 4);
  const span = step * shares.length;
  const line = svg("path", { d: `M0 ${even}H${span}`, class: "dpx-share-even" });
  return svg("svg", { class: "dpx-svg", width: span, height: BARS.height, "aria-hidden": "true" }, bars, line);
}

function probabilityRows({ outline, k }, probabilities, ranked) {
  return ranked.slice(0, 6).map((place) => {
    const share = probabilities[place];
    const bar = svg(
      "svg", { class: "dpx-share", width: 100, height: 12, "aria-hidden": "true" },
      svg("rect", { x: 0, y: 1, width: 100, height: 10, class: "dpx-share-track" }),
      svg("rect", { x: 0, y: 1, width: Math.max(1, 100 * share), height: 10, class: "dpx-bar dpx-bar-main" }),
    );
    const name = html("bdi", {}, shortName(outline.classes[place], 24));
    return html("tr", { class: place === k ? "dpx-row-chosen" : null },
      html("th", { scope: "row" }, name), html("td", {}, bar, ` ${formatShare(share)}`));
  });
}

/** Two lists side by side if there is room for both. */
function rowsWidth(width) {
  const half = width / 2 - 32; // a gap and a scroll bar
  return Math.min(LARGEST_OF_SAMPLE.rows, half >= 380 ? half : width);
}

/** Name of the class with the largest probability. */
export function predictedClass(outline, { probabilities }) {
  return outline.classes[rankedClasses(probabilities)[0]];
}

export class FilterSample {
  constructor(model) {
    this.model = model;
    this.box = choiceBox("Sample", (n) => {
      const { data, filters } = this.view;
      const predicted = predictedClass(data.outline, data.sample(filters, Number(n)));
      choose(model, { sample: Number(n), filter_class: predicted });
    });
    this.layers = new LayerSlider((opacity) => choose(model, { contribution_opacity: opacity }));
    this.sentence = html("p", { class: "dpx-sentence" });
    this.colours = html("p", { class: "dpx-note" });
    this.input = html("div", { class: "dpx-picture-stage dpx-sample-input", role: "img" });
    this.warning = html("p", { class: "dpx-picture-warning", hidden: true }, OPEN_SAMPLE);
    const heading = html("h4", {}, "Sample as the model reads it");
    this.inputFigure = html("figure", { class: "dpx-map" }, heading, this.input, this.warning);
    this.forClass = new MapReader(model, { what: "contribution", hint: "" });
    this.against = new MapReader(model, { what: "contribution", hint: "" });
    this.epsilons = new FilterEpsilons(model);
    this.rows = html("tbody", {});
    this.shares = html("div", { class: "dpx-shares", role: "img" });
    this.sharesHeading = html("h4", {});
    const table = html("table", { class: "dpx-table" }, html("caption", {}, "Probabilities"), this.rows);
    const head = html("header", { class: "dpx-head" }, html("h3", {}, "One sample"), this.box.element);
    offerTable(head, () => contributionTable(this.view, this.explanation(this.view)));
    this.maps = html("div", { class: "dpx-maps" },
      this.inputFigure, this.forClass.element, this.against.element,
      html("figure", { class: "dpx-map" }, table, this.sharesHeading, this.shares));
    this.element = html(
      "section", { class: "dpx-filter-sample" },
      head, this.sentence, this.layers.element, this.colours, this.maps, this.epsilons.element,
    );
  }

  /** Draw the chosen sample; return the shares of its filters, or null without samples. */
  draw(view, scale, { colours, width, font }) {
    const { samples, sample: n, data, filters, outline, k } = view;
    this.view = view;
    this.element.hidden = samples === null;
    if (samples === null) return null;
    this.box.fill(samples.names.map((name, i) => [String(i), shortName(name, 40)]), String(n));
    const sample = data.sample(filters, n);
    const ranked = rankedClasses(sample.probabilities);
    const own = sample.shares.subarray(ranked[0] * data.nFilters, (ranked[0] + 1) * data.nFilters);
    setText(this.sentence, sampleSentence(view, sample, ranked, own));
    this.drawMaps(view, scale, { colours, width, font });
    this.rows.replaceChildren(...probabilityRows(view, sample.probabilities, ranked));
    const shown = sample.shares.subarray(k * data.nFilters, (k + 1) * data.nFilters);
    setText(this.sharesHeading, `Shares of the filters of “${quotedName(outline.classes[k], 24)}”`);
    this.shares.replaceChildren(shareBars(shown, Math.min(width, 300)));
    const top = shown.indexOf(Math.max(...shown));
    const words = `about ${formatNumber(activeFilters(shown), 2)} active, ` +
      `the largest, number ${top}, has ${formatNumber(100 * shown[top], 2)}%`;
    this.shares.setAttribute("aria-label", `${outline.n_filters} filters, ${words}`);
    return sample.shares;
  }

  /** Evidence for the chosen class, and for it versus its rival, both with their sums. */
  explanation({ sample: n, data, filters, outline, k, choice }) {
    const { scores, biasPart, probabilities } = data.sample(filters, n);
    const rival = choice.kind === "contrast" ? choice.against : rankedClasses(probabilities).find((j) => j !== k);
    const [name, other] = [k, rival].map((place) => `“${quotedName(outline.classes[place], 24)}”`);
    const ends = (values) => [values[k], values[k] - values[rival]];
    const [rests, totals] = [ends(biasPart), ends(scores)];
    return {
      inputs: data.inputsOf(n),
      rival,
      own: {
        map: data.contributions(filters, n, k), heading: `Evidence for ${name}`,
        sum: { rest: rests[0], score: totals[0], what: `the score of ${name}` },
      },
      contrast: {
        map: data.contrastOfSample(filters, n, k, rival), heading: `${name} vs. ${other}`,
        sum: { rest: rests[1], score: totals[1], what: `its lead over ${other}` },
      },
    };
  }

  // It is the same at every epsilon, so it is not recomputed while scrubbing.
  acrossEpsilons({ columns, data, sample: n, k, state }, rival) {
    const key = [n, k, rival, columns.length, state.repeat].join(" ");
    if (this.known?.data !== data || this.known.key !== key) {
      const across = columns.map((fit) => data.contributions(fit, n, k));
      const ends = columns.map((fit, i) =>
        Math.max(largestOf(across[i].values), largestOf(data.contrastOfSample(fit, n, k, rival).values)));
      this.known = { data, key, across, ends };
    }
    return this.known;
  }

  drawMaps(view, scale, { colours, width, font }) {
    const { samples, opacity, masked } = view;
    const { inputs, own, contrast, rival } = this.explanation(view);
    const onGrid = scale !== null;
    const { across, ends } = this.acrossEpsilons(view, rival);
    const limits = view.everyEpsilon ? ends.map(() => Math.max(...ends)) : ends;
    const limit = limits[view.state.stop];
    const over = onGrid ? { ...scale, under: { inputs, greys: colours.inputs, opacity } } : null;
    const open = view.state.atReference ? `${fitWords(view.state)}: not releasable` : "";
    const room = {
      scale: over, limit, font, inputs, words: onGrid ? layerWords(opacity) : "",
      warning: samples.public ? open : OPEN_SAMPLE,
      width: onGrid ? Math.min(width, LARGEST_OF_SAMPLE.picture) : rowsWidth(width),
    };
    const draw = (reader, { map, heading, sum }) =>
      reader.draw(view, map, { ...room, heading, note: additionSentence(map, sum) });
    draw(this.forClass, own);
    draw(this.against, contrast);
    this.layers.draw(opacity, onGrid);
    setText(this.colours, onGrid ? sampleScaleWords({ inputs, limit, opacity, masked }) : "");
    this.drawInput(view, over, room);
    this.epsilons.draw(view, across, limits, over);
    this.maps.classList.toggle("dpx-maps-of-rows", !onGrid);
    this.warning.hidden = samples.public;
  }

  drawInput(view, over, { inputs, width }) {
    this.inputFigure.hidden = over === null;
    if (over === null) return;
    const alone = { ...over, limit: 1, under: { ...over.under, opacity: 0 } };
    const nothing = { values: new Float32Array(inputs.length), outside: null };
    this.input.replaceChildren(mapPicture(nothing, alone, Math.max(96, width)));
    const [low, high] = greyEnds(inputs).map((end) => formatSigned(end, 2));
    const name = quotedName(view.samples.names[view.sample], 40);
    this.input.setAttribute("aria-label", `sample ${name}, in gray: inputs from ${low} to ${high}`);
  }

  destroy() {
    for (const part of [this.forClass, this.against, this.epsilons]) part.destroy();
  }
}
