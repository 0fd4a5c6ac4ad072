// A table of all samples, to sort by how certain and how stable their decisions are.
import { html, setText } from "../../kit/dom.js";
import { formatNumber, formatShare, plural, shortName } from "../../kit/format.js";
import { scrollBox } from "../../kit/table.js";
import { choose } from "../../state/choosing.js";
import { decisionsOf, hasPrediction } from "./people.js";

/** The most rows drawn at once; sorting brings the others into view. */
const MOST_ROWS = 100;

const ABOUT = "Certainty: probability that the prediction without the noise of this fit is on the same side of the " +
  "threshold. Reruns: expected share of new fits at this ε with the same decision. Fits: how many of all fits " +
  "shown, at every ε, have the same decision.";
const ABOUT_CLASSES = "Prediction: probability of the predicted class. Certainty: probability, at least, that the " +
  "same class is predicted without the noise of this fit. Reruns: expected share, at least, of new fits at this ε " +
  "with the same class. Fits: how many of all fits shown, at every ε, predict the same class.";
const NO_THRESHOLD = "Decisions need a threshold and a private fit: set a threshold above, and choose an ε.";

function percent(share) {
  if (share === null) return "unknown";
  return formatShare(share);
}

/** Orders rows with equal numbers: the less certain first. */
function nearTie(ratio) {
  return 1e-9 - 1e-9 / (1 + ratio);
}

/**
 * Columns: heading, sorting key, text.
 * @type {[string, (each: any) => number, (each: any) => string][]}
 */
const COLUMNS = [
  ["sample", ({ place }) => place, ({ name }) => shortName(name, 40)],
  ["prediction", ({ prediction }) => prediction, ({ prediction }) => formatNumber(prediction)],
  ["95% between", ({ ends, prediction }) => ends?.[0] ?? prediction,
    ({ ends }) => (ends === null ? "unknown" : ends.map((end) => formatNumber(end)).join(" and "))],
  ["decision", ({ order }) => order,
    ({ decision, holds }) => `${shortName(decision, 40)}${holds === false ? ", uncertain" : ""}`],
  ["certainty", ({ certainty, ratio }) => certainty + nearTie(ratio), ({ certainty }) => percent(certainty)],
  ["same in reruns", ({ rerun, ratio }) => rerun + nearTie(ratio), ({ rerun }) => percent(rerun)],
  ["same in fits", ({ same, ratio }) => same + nearTie(ratio),
    ({ same, fits }) => `${same} of ${fits}`],
];

/** How many decisions are certain, and how many all fits agree on. */
function tallyWords(rows) {
  if (rows.length === 0) return "";
  const certain = rows.filter(({ holds }) => holds).length;
  const known = rows.every(({ holds }) => holds !== null);
  const stable = rows.filter(({ same, fits }) => same === fits).length;
  const sure = known ? `${certain} of ${rows.length} decisions are certain at this ε; ` : "";
  return `${sure}${stable} of ${rows.length} are the same in all fits shown.`;
}

/**
 * The table below a local view: `element` to place, `draw(state, threshold, chosen)` after changes.
 * @param {import("../../types").Model} model
 */
export function peopleTable(model) {
  const about = html("p", { class: "dpx-note" });
  const warning = html("p", { class: "dpx-note dpx-reference-text" }, "NOT PRIVATE: these samples are not marked as " +
    "public, and the guarantee does not protect them. Do not publish this table.");
  const tally = html("p", { role: "status" });
  const body = html("tbody");
  let sorted = { column: 0, up: true };
  let latest = null;
  const heads = COLUMNS.map(([name], column) => {
    const press = html("button", { type: "button", class: "dpx-sort" }, name);
    press.addEventListener("click", () => {
      sorted = { column, up: sorted.column === column ? !sorted.up : true };
      redraw();
    });
    return html("th", { scope: "col" }, press);
  });
  const table = html("table", { class: "dpx-table dpx-people" },
    html("thead", {}, html("tr", {}, heads)), body);
  const box = scrollBox("Table of decisions", table);
  const element = html("details", { class: "dpx-details" },
    html("summary", {}, "All samples: which decisions are certain?"), warning, tally, about, box);

  // The box ends below a row, because half a row looks like the last one.
  function showWholeRows() {
    box.style.maxHeight = "";
    const frame = box.getBoundingClientRect();
    const ends = Array.from(body.rows, (row) => row.getBoundingClientRect().bottom - frame.top + box.scrollTop);
    const whole = ends.filter((end) => end <= box.clientHeight).at(-1);
    if (whole !== undefined) box.style.maxHeight = `${whole + frame.height - box.clientHeight}px`;
  }

  const rowOf = (each, chosen) => {
    const press = html("button", { type: "button", class: "dpx-sort" }, html("bdi", {}, COLUMNS[0][2](each)));
    press.addEventListener("click", () => choose(model, { sample: each.place, what_if: {} }));
    return html("tr", each.place === chosen ? { class: "dpx-row-chosen", "aria-current": "true" } : {},
      html("th", { scope: "row" }, press), COLUMNS.slice(1).map(([, , text]) => html("td", {}, text(each))));
  };

  function redraw() {
    if (!element.open || latest === null) return;
    const { state, threshold, chosen } = latest;
    const rows = decisionsOf(state, threshold);
    const key = COLUMNS[sorted.column][1];
    const sign = sorted.up ? 1 : -1;
    rows.sort((a, b) => sign * (key(a) - key(b)) || a.place - b.place);
    heads.forEach((head, column) => {
      head.setAttribute("aria-sort", column !== sorted.column ? "none" : sorted.up ? "ascending" : "descending");
    });
    body.replaceChildren(...rows.slice(0, MOST_ROWS).map((each) => rowOf(each, chosen)));
    const cut = rows.length > MOST_ROWS ? ` The first ${MOST_ROWS} of ${plural(rows.length, "sample")} are shown.` : "";
    const meaning = state.payload.target.by_class ? ABOUT_CLASSES : ABOUT;
    setText(about, rows.length === 0 ? NO_THRESHOLD : `${meaning}${cut}`);
    setText(tally, tallyWords(rows));
    warning.hidden = state.samples.public && state.fit.guarantee.private;
    box.hidden = rows.length === 0;
    showWholeRows();
  }

  element.addEventListener("toggle", redraw);
  const draw = (state, threshold, chosen) => {
    latest = state.samples && hasPrediction(state.payload) ? { state, threshold, chosen } : null;
    element.hidden = latest === null;
    redraw();
  };
  return { element, draw };
}
