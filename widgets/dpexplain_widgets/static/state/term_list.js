// Filter and order of a list of terms.
import { checkbox, choiceBox } from "../kit/controls.js";
import { html, uniqueId } from "../kit/dom.js";
import { formatEpsilon } from "../kit/format.js";
import { choose } from "./choosing.js";

/** Choices shared by all lists of terms. */
export const LIST_KEYS = ["term_order", "term_search", "above_noise_only"];

/** Names of the orders; the first contains the epsilon whose importances determine the order. */
function orderNames({ payload }) {
  const last = payload.epsilons.at(-1);
  const where = last === undefined ? "size" : `bars at ε = ${formatEpsilon(last)}`;
  return [["last", where], ["this", "bars at this ε"], ["schema", "schema"], ["name", "name"]];
}


const SEARCH_FROM = 16;

/**
 * Indices of the terms in the order to list them.
 * @param {import("../types").State} state
 */
function termOrder(state, order) {
  const { terms, fits } = state.payload;
  const indices = terms.map((_, i) => i);
  if (order === "schema") return indices;
  if (order === "name") {
    return indices.sort((a, b) => terms[a].name.localeCompare(terms[b].name));
  }
  const ruling = order === "this" || fits.length === 0 ? state.fit : fits.at(-1)[0];
  return indices.sort((a, b) => ruling.terms[b].importance - ruling.terms[a].importance);
}

/**
 * The listed terms, in order: they match the search and, if requested, are above the noise.
 * @param {import("../types").Model} model
 * @param {import("../types").State} state
 */
export function listedTerms(model, state) {
  const search = (model.get("term_search") ?? "").trim().toLowerCase();
  const onlyAbove = model.get("above_noise_only");
  return termOrder(state, model.get("term_order") ?? "last").filter((i) => {
    const { above_noise: above, absent } = state.fit.terms[i];
    if (onlyAbove && (above === false || absent)) return false;
    return state.payload.terms[i].name.toLowerCase().includes(search);
  });
}

/**
 * Order, filter and, for many terms, a search field: `element` to place, `draw(state)`.
 * @param {import("../types").Model} model
 */
export function listControls(model) {
  const orderBox = choiceBox("Sort by", (order) => choose(model, { term_order: order }));
  const above = checkbox("Above noise only", false, (on) => choose(model, { above_noise_only: on }));
  const id = uniqueId("search");
  const input = html("input", { id, type: "search", placeholder: "search by name", maxlength: 200 });
  input.addEventListener("input", () => choose(model, { term_search: input.value }));
  const search = html("span", { class: "dpx-choice" }, html("label", { for: id }, "Find"), input);
  const element = html("div", { class: "dpx-controls dpx-list-controls" }, search, orderBox.element, above.element);
  const draw = (state) => {
    const wanted = model.get("term_search") ?? "";
    if (input.value !== wanted) input.value = wanted;
    search.hidden = state.payload.terms.length < SEARCH_FROM && wanted === "";
    orderBox.fill(orderNames(state), model.get("term_order") ?? "last");
    above.input.checked = Boolean(model.get("above_noise_only"));
    above.element.hidden = state.fit.terms.every((term) => typeof term.above_noise !== "boolean");
  };
  return { element, draw };
}
