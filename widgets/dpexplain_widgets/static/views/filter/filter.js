// The filter view: filters of a locally linear model by class, and their noise.
import { checkbox, choiceBox } from "../../kit/controls.js";
import { html, setText } from "../../kit/dom.js";
import { MapReader, regionFrame } from "./filter_detail.js";
import { claimPanel } from "../claim/claim_panel.js";
import { stripWords } from "../claim/claim_words.js";
import { filterClaim, filterClaimStrip, filterClaimWords, filterRegion } from "./filter_claims.js";
import { FilterGrid, mapPicture } from "./filter_grid.js";
import { FilterList } from "./filter_list.js";
import { colourBar, pictureSize, picturePlaces, themeColours } from "./filter_picture.js";
import { FilterSample, predictedClass } from "./filter_sample.js";
import { FILTER_KEYS, readFilters } from "./filter_state.js";
import { signedRows } from "./filter_strip.js";
import { weightsTable } from "./filter_tables.js";
import { columnWords, mapWords, scaleWords } from "./filter_words.js";
import { shortName } from "../../kit/format.js";
import { standaloneParts } from "../../kit/standalone.js";
import { choose } from "../../state/choosing.js";
import { drawOnChange } from "../../state/state.js";
import { offerTable, scrollBox } from "../../kit/table.js";
import { fontOf } from "../../kit/text.js";
import { creatorOf, observeWidth, viewWidget } from "../../kit/view.js";
import { fitWords } from "../../kit/words.js";

const MAP_NAMES = [
  ["mean", "mean filter of each class"],
  ["contrast", "contrast of two classes"],
  ["filter", "single filters, or two compared"],
];

const FILTER_MEANING =
  "A class has several linear filters; its score is their mean, weighted by how strongly each responds. " +
  "Only differences between classes carry meaning, so the mean of all filters is subtracted. Averages of " +
  "filters carry less privacy noise than single filters. Contributions to the score of a sample are exact: " +
  "they are integrated gradients from a uniform picture, or from a record of zeros, and together with the " +
  "bias they add up to the score. Standard deviations cover privacy noise only; they are computed from " +
  "released numbers, so they cost no privacy.";

const SEEDED = "NOT PRIVATE — do not publish";

const CLAIM_START = "Choose an input or a region for a claim about its mean weight.";
const CLAIM_PRIVATE = "Claims are made from private fits: choose an ε.";
const CLAIM_OF_NONE = "The page makes no claim about this map: its noise is unknown, or too large for a page. " +
  "In Python, dpexplain.explain.filter_claim() makes claims about the filters of any private model.";
const CLAIM_BASIS = "It refers to the released weights without their noise. Its interval holds for all regions of " +
  "the map at once, with the joint noise of all inputs; effects in the population are not estimated.";

class FilterPanel {
  constructor(model, host, { standalone = false } = {}) {
    this.model = model;
    this.width = 0;
    this.theme = null;
    this.colours = null;
    this.grid = new FilterGrid(model);
    this.reader = new MapReader(model, { regions: true });
    this.pinned = new MapReader(model, { hint: "" });
    this.change = new MapReader(model, { hint: "", what: "difference" });
    this.claim = claimPanel(model, [], () => this.forFigure());
    this.list = new FilterList(model);
    this.sample = new FilterSample(model);
    this.alone = standalone ? standaloneParts(model) : null;
    this.build(host);
    this.themes = new MutationObserver(() => this.draw());
    this.stops = [
      drawOnChange(model, FILTER_KEYS, () => this.draw()),
      observeWidth(this.frame, (width) => this.resize(width)),
    ];
  }

  build(host) {
    const { model } = this;
    const set = (name) => (value) => choose(model, { [name]: value });
    this.title = html("bdi");
    this.mapBox = choiceBox("Show", set("shown_map"));
    this.classBox = choiceBox("Class", set("filter_class"));
    this.againstBox = choiceBox("Against", set("against_class"));
    this.minusBox = choiceBox("Against filter", (m) => choose(model, { against_filter: m === "" ? null : Number(m) }));
    this.repeatBox = choiceBox("Fit", (i) => choose(model, { repeat: Number(i) }));
    this.mask = checkbox("Hide weights that may be noise", false, set("mask_noise"));
    this.sameScale = checkbox("Same scale at every ε", true, set("same_axis"));
    this.sorted = checkbox("Highest signal-to-noise first", true, set("sort_filters"));
    this.scaleNote = html("p", { class: "dpx-note" });
    this.scaleBar = html("div", { class: "dpx-colour-bar" });
    this.meaning = html("details", { class: "dpx-details" },
      html("summary", {}, "What filters mean"), html("p", { class: "dpx-note" }, FILTER_MEANING));
    const box = scrollBox("Weights as a table");
    this.table = html("details", { class: "dpx-details" }, html("summary", {}, "Weights as a table"), box);
    this.table.addEventListener("toggle", () => this.draw());
    this.tableBox = box;
    const boxes = [this.mapBox, this.classBox, this.minusBox, this.againstBox, this.repeatBox];
    const controls = [...boxes, this.mask, this.sameScale, this.sorted];
    this.frame = html("div", { class: "dpx-filter-frame dpx-plot" }, this.grid.element,
      html("div", { class: "dpx-filter-main" },
        this.reader.element, this.pinned.element, this.change.element, this.claim.element, this.list.element));
    const head = html("header", { class: "dpx-head" }, html("h3", {}, "Filters of ", this.title));
    offerTable(head, () => this.weights(readFilters(model)));
    host.append(
      head,
      html("div", { class: "dpx-controls" }, this.alone?.controls, controls.map((each) => each.element)),
      html("div", { class: "dpx-colour-scale" }, this.scaleBar, this.scaleNote), this.frame, this.sample.element,
      ...[this.alone?.sentence, this.meaning, this.table].filter(Boolean),
    );
  }

  resize(width) {
    this.width = width;
    this.font = fontOf(this.frame);
    this.root = this.frame.closest(".dpx") ?? this.frame;
    this.themes.observe(this.root, { attributes: true, attributeFilter: ["data-theme"] });
    this.draw();
  }

  // Reading colors makes the browser compute all styles, so they are read once per theme.
  coloursOf() {
    const theme = this.root.dataset.theme ?? "";
    if (this.theme !== theme) [this.theme, this.colours] = [theme, themeColours(this.root)];
    return this.colours;
  }

  scaleOf({ outline }) {
    if (outline.grid_shape === null) return null;
    if (this.scaled?.outline !== outline) {
      const [rows, width] = pictureSize(outline.grid_shape);
      this.scaled = { outline, rows, width, places: picturePlaces(outline.grid_shape) };
    }
    const { table, mask } = this.coloursOf();
    return { ...this.scaled, outline: undefined, table, mask, theme: this.theme };
  }

  draw() {
    const view = readFilters(this.model);
    if (view === null || view.filters === undefined || this.width < 40) return;
    if (this.startWithPrediction(view)) return;
    const scale = this.scaleOf(view);
    this.drawScaleBar(scale);
    const room = { colours: this.coloursOf(), width: this.width, font: this.font };
    this.frame.classList.toggle("dpx-filter-pictures", scale !== null);
    this.drawControls(view);
    setText(this.scaleNote, scaleWords(view));
    this.grid.draw(view, scale, this.width);
    const shares = this.sample.draw(view, scale, room);
    this.drawReader(view, scale);
    this.drawClaim(view);
    this.list.draw(view, scale, shares);
    this.tableBox.replaceChildren(...(this.table.open ? [this.weights(view)] : []));
  }

  // With samples, the class that the model predicts is the one to explain.
  startWithPrediction({ samples, sample, data, filters }) {
    if (samples === null || this.model.get("filter_class")) return false;
    choose(this.model, { filter_class: predictedClass(data.outline, data.sample(filters, sample)) });
    return true;
  }

  drawScaleBar(scale) {
    this.scaleBar.hidden = scale === null;
    if (scale === null || this.barTheme === this.theme) return;
    this.barTheme = this.theme;
    this.scaleBar.replaceChildren(colourBar(scale.table));
  }

  weights(view) {
    return weightsTable(view, view.data.map(view.filters, view.choice, view.k));
  }

  // The chosen map, and next to it the same map at the pinned ε.
  drawReader(view, scale) {
    const { data, columns, choice, k, limit, state } = view;
    const open = state.atReference ? `${fitWords(state)}: not releasable` : SEEDED;
    const several = scale !== null && state.pinned !== null;
    this.reader.element.parentElement.classList.toggle("dpx-filter-three", several);
    const room = { scale, limit, font: this.font, width: Math.min(this.width, several ? 236 : scale ? 336 : 520) };
    const draw = (reader, column, warning) => {
      const heading = `${mapWords(view, k)}, ${columnWords(view, column)}`;
      reader.draw(view, data.map(columns[column], choice, k), {
        ...room, heading: `${heading[0].toUpperCase()}${heading.slice(1)}`, warning,
      });
    };
    draw(this.reader, state.stop, state.fit.guarantee.private ? "" : open);
    this.pinned.element.hidden = state.pinned === null;
    this.change.element.hidden = state.pinned === null;
    if (!state.pinned) return;
    const seeded = state.pinned.guarantee.private ? "" : SEEDED;
    draw(this.pinned, state.pinnedStop, seeded);
    const [here, there] = [state.stop, state.pinnedStop].map((column) => columnWords(view, column));
    this.change.draw(view, data.changeOf([columns[state.stop], columns[state.pinnedStop]], choice, k), {
      ...room, heading: `Difference: ${here} minus ${there}`,
      warning: state.fit.guarantee.private ? seeded : open,
    });
  }

  drawClaim(view) {
    const { state, region, filters } = view;
    const question = { kind: "region" };
    const claim = region === null || state.atReference ? null
      : filterClaim(view, filters, filterRegion(view.outline, region));
    const unknown = state.atReference ? CLAIM_PRIVATE : region === null ? CLAIM_START : CLAIM_OF_NONE;
    if (claim === null) {
      this.claim.show(state, question, { claim, found: [], texts: [], basis: "", unknown });
      return;
    }
    const place = filterRegion(view.outline, region);
    const found = filterClaimStrip(view, place);
    const texts = [filterClaimWords(view, place, claim), "", found.length < 2 ? "" : stripWords(found)];
    this.claim.show(state, question, { claim, found, texts, basis: CLAIM_BASIS, unknown });
  }

  /** The picture of the map for a figure, or text that says why there is none. */
  forFigure() {
    const view = readFilters(this.model);
    const { data, filters, choice, k, limit, outline, state, region } = view;
    if (!state.fit.guarantee.private) return CLAIM_PRIVATE;
    const map = { ...data.map(filters, choice, k), outside: null };
    const scale = this.scaleOf(view);
    const names = outline.input_names;
    const rows = { width: 520, limit, masked: false, font: this.font, chosen: region[0] };
    const picture = scale === null ? signedRows(map, names, rows).element
      : html("div", { class: "dpx-picture-stage" },
        mapPicture(map, { ...scale, limit }, 240), regionFrame(scale, region));
    const key = JSON.stringify([choice, k, state.stop, state.repeat, scale && region]);
    return { key, title: mapWords(view, k), elements: [picture, html("p", { class: "dpx-note" }, scaleWords(view))] };
  }

  drawControls(view) {
    const { outline, state, choice, k } = view;
    setText(this.title, shortName(state.payload.target.name || "the model", 80));
    const names = outline.classes.map((name) => [name, shortName(name, 40)]);
    this.mapBox.fill(MAP_NAMES, choice.kind);
    this.classBox.fill(names, outline.classes[k]);
    const single = choice.kind === "filter";
    this.againstBox.fill(names.filter((_, place) => single || place !== k), outline.classes[choice.against]);
    this.againstBox.element.hidden = single ? choice.minus === null : choice.kind !== "contrast";
    const numbers = Array.from({ length: outline.n_filters }, (_, m) => [String(m), `#${m}`]);
    this.minusBox.fill([["", "none"], ...numbers], String(choice.minus ?? ""));
    this.minusBox.element.hidden = !single;
    const fits = state.fits.map((_, i) => [String(i), `${i + 1} of ${state.fits.length}`]);
    this.repeatBox.fill(fits, String(state.repeat));
    this.repeatBox.element.hidden = state.fits.length < 2;
    this.mask.input.checked = view.masked;
    this.sameScale.input.checked = view.everyEpsilon;
    this.sameScale.element.hidden = view.columns.length < 2;
    this.sorted.input.checked = view.sorted;
  }

  destroy() {
    for (const stop of this.stops) stop();
    for (const part of [this.grid, this.reader, this.pinned, this.change, this.list, this.sample]) part.destroy();
    this.themes.disconnect();
    this.alone?.destroy();
  }
}

/** Put the filter view into a host. */
export const createFilter = creatorOf(FilterPanel);

export default viewWidget("filter", createFilter);
