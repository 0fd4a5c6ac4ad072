// Why one sample gets its class: the sample, what speaks for the class, and which filters decide.
import { html, setText, svg } from "./dom.js";
import { choiceBox } from "./controls.js";
import { MapReader } from "./filter_detail.js";
import { activeFilters, rankedClasses } from "./filter_data.js";
import { mapPicture } from "./filter_grid.js";
import { sampleSentence } from "./filter_words.js";
import { formatNumber, quotedName, shortName } from "./format.js";
import { choose } from "./state.js";

const BARS = { height: 92, wide: 22, narrow: 5 };

const OPEN_SAMPLE = "This sample is not marked public: not releasable.";

function largestOf(values) {
  return values.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
}

/** A bar for each share, the largest one in another colour, and a line at the share of all alike. */
export function shareBars(shares, width) {
  const step = Math.max(BARS.narrow, Math.min(BARS.wide, width / shares.length));
  const largest = Math.max(...shares, 1.5 / shares.length);
  const top = shares.indexOf(Math.max(...shares));
  const bars = Array.from(shares, (share, m) => {
    const height = Math.max(0.5, (share / largest) * (BARS.height - 4));
    const role = m === top ? "dpx-share-top" : "dpx-bar-main";
    const frame = { x: m * step + step * 0.1, y: BARS.height - height, width: step * 0.8, height };
    const title = svg("title", {}, `filter ${m}: ${formatNumber(100 * share, 2)} %`);
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
      html("th", { scope: "row" }, name), html("td", {}, bar, ` ${formatNumber(100 * share, 3)} %`));
  });
}

export class FilterSample {
  constructor(model) {
    this.model = model;
    this.box = choiceBox("Sample", (n) => choose(model, { sample: Number(n) }));
    this.sentence = html("p", { class: "dpx-sentence" });
    this.input = html("div", { class: "dpx-picture-stage dpx-sample-input", role: "img" });
    this.warning = html("p", { class: "dpx-picture-warning", hidden: true }, OPEN_SAMPLE);
    const heading = html("h4", {}, "Sample, as the model reads it");
    this.inputFigure = html("figure", { class: "dpx-map" }, heading, this.input, this.warning);
    this.forClass = new MapReader(model, { what: "contribution", hint: "" });
    this.against = new MapReader(model, { what: "contribution", hint: "" });
    this.rows = html("tbody", {});
    this.shares = html("div", { class: "dpx-shares", role: "img" });
    this.sharesHeading = html("h4", {});
    const table = html("table", { class: "dpx-table" }, html("caption", {}, "Probabilities"), this.rows);
    this.element = html(
      "section", { class: "dpx-filter-sample" },
      html("header", { class: "dpx-head" }, html("h3", {}, "One sample"), this.box.element),
      this.sentence,
      html("div", { class: "dpx-maps" }, this.inputFigure, this.forClass.element, this.against.element,
        html("figure", { class: "dpx-map" }, table, this.sharesHeading, this.shares)),
    );
  }

  /** Draw the chosen sample; gives the shares of its filters, or null without samples. */
  draw(view, scale, { colours, width, font }) {
    const { samples, sample: n, data, filters, outline, k } = view;
    this.element.hidden = samples === null;
    if (samples === null) return null;
    this.box.fill(samples.names.map((name, i) => [String(i), shortName(name, 40)]), String(n));
    const sample = data.sample(filters, n);
    const ranked = rankedClasses(sample.probabilities);
    const own = sample.shares.subarray(ranked[0] * data.nFilters, (ranked[0] + 1) * data.nFilters);
    setText(this.sentence, sampleSentence(view, sample, ranked, activeFilters(own), Math.max(...own)));
    this.drawMaps(view, scale, { colours, width, font, ranked });
    this.rows.replaceChildren(...probabilityRows(view, sample.probabilities, ranked));
    const shown = sample.shares.subarray(k * data.nFilters, (k + 1) * data.nFilters);
    setText(this.sharesHeading, `Shares of the filters of “${quotedName(outline.classes[k], 24)}”`);
    this.shares.replaceChildren(shareBars(shown, Math.min(width, 340)));
    const largest = formatNumber(100 * Math.max(...shown), 2);
    const words = `about ${formatNumber(activeFilters(shown), 2)} at work, the largest has ${largest} %`;
    this.shares.setAttribute("aria-label", `${outline.n_filters} filters, ${words}`);
    return sample.shares;
  }

  drawMaps(view, scale, { colours, width, font, ranked }) {
    const { samples, sample: n, data, filters, outline, k, state } = view;
    const rival = view.choice.kind === "contrast" ? view.choice.against : ranked.find((place) => place !== k);
    const maps = [data.contributions(filters, n, k), data.contrastOfSample(filters, n, k, rival)];
    const limit = Math.max(...maps.map((map) => largestOf(map.values)));
    const open = state.atReference ? "non-private reference: not releasable" : "";
    const warning = samples.public ? open : OPEN_SAMPLE;
    const room = { scale, limit, font, warning, width: Math.min(width, scale === null ? 420 : 196) };
    const name = (place) => `“${quotedName(outline.classes[place], 24)}”`;
    this.forClass.draw(view, maps[0], { ...room, heading: `What speaks for ${name(k)}` });
    this.against.draw(view, maps[1], { ...room, heading: `For ${name(k)} against ${name(rival)}` });
    this.drawInput(view, scale, colours, room);
    this.warning.hidden = samples.public;
  }

  drawInput(view, scale, colours, room) {
    const values = view.data.inputsOf(view.sample);
    this.inputFigure.hidden = scale === null;
    if (scale === null) return;
    const grey = { ...scale, table: colours.inputs, limit: largestOf(values) };
    this.input.replaceChildren(mapPicture({ values, outside: null }, grey, Math.max(96, room.width)));
    this.input.setAttribute("aria-label", `sample ${shortName(view.samples.names[view.sample], 40)}`);
  }

  destroy() {
    this.forClass.destroy();
    this.against.destroy();
  }
}
