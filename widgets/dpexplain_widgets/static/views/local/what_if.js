// Inputs for what-if values: numbers within the public range, categories from the schema.
import { valueRange } from "./contributions.js";
import { button } from "../../kit/controls.js";
import { html, uniqueId } from "../../kit/dom.js";
import { dayOf, formatDay, formatValue, shortName } from "../../kit/format.js";
import { choose } from "../../state/choosing.js";

function dateInput(term, termFit) {
  const [min, max] = valueRange(term, termFit).map(formatDay);
  return html("input", { type: "date", min, max });
}

function numberInput(term, termFit) {
  if (term.is_date) return dateInput(term, termFit);
  const [low, high] = valueRange(term, termFit);
  return html("input", { type: "number", min: low, max: high, step: term.step ?? "any" });
}

function categoryInput(termFit) {
  const categories = termFit.labels.slice(0, termFit.labels.length - termFit.special.length);
  return html("select", {}, categories.map((name, k) => html("option", { value: k }, shortName(name, 60))));
}

/**
 * The value of an input, or undefined if the schema does not allow it.
 * @param {import("../../types").TermFit} termFit
 */
export function inputValue(text, term, termFit) {
  if (term.kind !== "numeric") return termFit.labels[Number(text)];
  const value = term.is_date ? dayOf(text) : Number(text);
  const [low, high] = [termFit.edges[0], termFit.edges.at(-1)];
  return text.trim() !== "" && value >= low && value <= high ? value : undefined;
}

function rangeWords(term, termFit) {
  if (term.kind !== "numeric") return "";
  const unit = term.unit ? ` ${shortName(term.unit, 20)}` : "";
  return `${valueRange(term, termFit).map((value) => formatValue(term, value, 6)).join(" to ")}${unit}`;
}

/**
 * Inputs for the terms in `places`: {element, draw(state, values, places)};
 * typed values become the trait `what_if`.
 * @param {import("../../types").Model} model
 */
export function whatIfInputs(model) {
  const box = html("div", { class: "dpx-inputs" });
  const reset = button("Undo all changes", () => choose(model, { what_if: {} }));
  const problem = html("p", { class: "dpx-note dpx-caution", role: "alert" });
  const element = html("details", { class: "dpx-details dpx-what-if", open: true },
    html("summary", {}, "What if? Change values"),
    html("p", { class: "dpx-note" }, "Uses released curves only, so it costs no privacy."),
    box, problem, reset);
  let made = [];
  let shown = "";

  const set = (place, text) => {
    const { term, termFit, input } = made[place];
    const value = inputValue(text, term, termFit);
    input.setAttribute("aria-invalid", String(value === undefined));
    const kind = term.is_date ? "date" : "number";
    problem.textContent = value === undefined
      ? `${shortName(term.name, 60)} must be a ${kind} in ${rangeWords(term, termFit)}.` : "";
    if (value !== undefined) choose(model, { what_if: { ...model.get("what_if"), [term.name]: value } });
  };

  const make = (term, termFit, place) => {
    const id = uniqueId("input");
    const input = term.kind === "numeric" ? numberInput(term, termFit) : categoryInput(termFit);
    input.id = id;
    input.addEventListener(term.kind === "numeric" ? "input" : "change", () => set(place, input.value));
    const field = html("div", { class: "dpx-input" },
      html("label", { for: id }, html("bdi", {}, shortName(term.name, 60))), input,
      html("span", { class: "dpx-note" }, rangeWords(term, termFit)));
    return { term, termFit, input, field };
  };

  const draw = (state, values, places) => {
    const key = JSON.stringify(places.map((i) => state.payload.terms[i].name));
    if (key !== shown) {
      shown = key;
      made = places.map((i, place) => make(state.payload.terms[i], state.fit.terms[i], place));
      box.replaceChildren(...made.map(({ field }) => field));
    }
    places.forEach((i, place) => {
      const { input, term, termFit, field } = made[place];
      const number = term.is_date ? formatDay : String;
      const text = term.kind === "numeric" ? number(values[i] ?? "") : String(termFit.labels.indexOf(values[i]));
      if (document.activeElement !== input && input.value !== text) input.value = text;
      field.classList.toggle("dpx-input-changed", Object.hasOwn(model.get("what_if") ?? {}, term.name));
    });
    reset.hidden = Object.keys(model.get("what_if") ?? {}).length === 0;
    if (reset.hidden) problem.textContent = "";
  };
  return { element, draw };
}
