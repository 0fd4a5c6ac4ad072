// The Explorer: all views of one model object, side by side.
import { createDisagreement } from "../disagreement/disagreement.js";
import { html } from "../../kit/dom.js";
import { createEdit } from "../edit/edit.js";
import { createFilter } from "../filter/filter.js";
import { createImportance } from "../importance/importance.js";
import { createLedger } from "../ledger/ledger.js";
import { createLocal } from "../local/local.js";
import { createMultiples } from "../shape/multiples.js";
import { createOverview } from "../overview/overview.js";
import { createPlanner } from "../planner/planner.js";
import { createRank } from "../rank/rank.js";
import { createShapePanel } from "../shape/shape_panel.js";
import { choose } from "../../state/choosing.js";
import { drawOnChange } from "../../state/state.js";
import { createTabs } from "./tabs.js";
import { viewWidget } from "../../kit/view.js";

/** @typedef {import("../../types").Model} Model */
/** @typedef {(model: Model, host: HTMLElement, options: object) => () => void} Create */

/** @type {[string, string, Create][]} */
const TABS = [
  ["shape", "Shape", createShapePanel],
  ["edit", "Edit", createEdit],
  ["terms", "All terms", createMultiples],
  ["disagreement", "Disagreement", createDisagreement],
  ["rank", "Ranks", createRank],
  ["local", "One sample", createLocal],
];

/** Only the visible part is created; the model stores choices. */
function createMain(model, host) {
  let shown = null;
  let stopShown = () => {};
  const tabs = createTabs("Explorer tabs", TABS, (name) => choose(model, { tab: name }));
  const below = html("section", { class: "dpx-part dpx-below" }); // as wide as the terms and the main part together
  host.append(tabs.element, tabs.panel);
  host.after(below);
  const draw = () => {
    const wanted = TABS.find(([name]) => name === model.get("tab")) ?? TABS[0];
    if (wanted === shown) return;
    shown = wanted;
    const [name, , create] = wanted;
    tabs.choose(name);
    stopShown();
    tabs.panel.className = `dpx-part dpx-tab-panel dpx-${name === "terms" ? "all-terms" : name}`;
    tabs.panel.replaceChildren();
    below.replaceChildren();
    stopShown = create(model, tabs.panel, { standalone: false, below });
  };
  const stop = drawOnChange(model, ["tab"], draw);
  draw();
  return () => {
    stop();
    stopShown();
    tabs.destroy();
  };
}

/** @type {[string, Create][]} */
const PARTS = [
  ["overview", createOverview],
  ["importance", createImportance],
  ["main", createMain],
  ["planner", createPlanner],
  ["ledger", createLedger],
];

/** @type {[string, Create][]} */
const FILTER_PARTS = [
  ["overview", createOverview],
  ["filter", createFilter],
  ["ledger", createLedger],
];

/**
 * Put the Explorer into `host`. Returns a function that ends it.
 * @param {import("../../types").Model} model
 */
function createExplorer(model, host) {
  const parts = model.get("payload").filters ? FILTER_PARTS : PARTS;
  const grid = html("div", { class: "dpx-parts" });
  const stops = parts.map(([name, create]) => {
    const part = html("section", { class: `dpx-part dpx-${name}` });
    (name === "overview" ? host : grid).append(part);
    return create(model, part, { standalone: false });
  });
  host.append(grid);
  return () => {
    for (const stop of stops) stop();
  };
}

export default viewWidget("explorer", createExplorer);
