// The display options of the shape view.
import { mainTerm, shownLayer } from "../../charts/curves.js";
import { checkbox, choiceBox } from "../../kit/controls.js";
import { replayControls } from "./replay_controls.js";
import { choose } from "../../state/choosing.js";

const CURVES = [
  ["both", "Released curve and estimate"], ["released", "Released curve"], ["effect", "Estimate of the effect"],
];
const ORDERS = [["schema", "as in the schema"], ["contribution", "by contribution"], ["uncertainty", "by uncertainty"]];

/** The options stored in a model object. */
export function optionsOf(model) {
  return {
    everyEpsilon: model.get("same_axis") ?? true,
    evenBins: model.get("even_bins") ?? null,
    categoryOrder: model.get("category_order") ?? "schema",
  };
}

/**
 * The controls: `elements` to place, `draw(state, even)` after changes, where `even` is whether bins have
 * equal width, and `destroy()`.
 * @param {import("../../types").Model} model
 */
export function shapeOptions(model) {
  const curve = choiceBox("Show", (name) => choose(model, { shown_curve: name }));
  const order = choiceBox("Categories", (name) => choose(model, { category_order: name }));
  const repeat = choiceBox("Fit", (i) => choose(model, { repeat: Number(i) }));
  const sameAxis = checkbox("Same axis at every ε", true, (on) => choose(model, { same_axis: on }));
  const evenBins = checkbox("Equal-width bins", false, (on) => choose(model, { even_bins: on }));
  const replay = replayControls(model);
  const draw = (state, even) => {
    const { everyEpsilon, categoryOrder } = optionsOf(model);
    const numeric = state.term.kind === "numeric";
    const termFit = mainTerm(state);
    curve.fill(CURVES, state.shownCurve);
    curve.element.hidden = !termFit.effect || Boolean(termFit.axes);
    order.fill(ORDERS, categoryOrder);
    order.element.hidden = numeric;
    repeat.fill(state.fits.map((_, i) => [String(i), `${i + 1} of ${state.fits.length}`]), String(state.repeat));
    repeat.element.hidden = state.fits.length < 2;
    sameAxis.element.hidden = state.payload.epsilons.length < 2;
    sameAxis.input.checked = everyEpsilon;
    evenBins.element.hidden = !numeric;
    evenBins.input.checked = numeric && even;
    replay.draw(Boolean(termFit.total_std) && shownLayer(state) !== "effect");
  };
  const elements = [curve, order, repeat, sameAxis, evenBins, replay].map((each) => each.element);
  return { elements, draw, destroy: replay.destroy };
}
