// Choice of the model shown, or of a class of one model, and of another to compare with.
import { choiceBox } from "../../kit/controls.js";
import { html } from "../../kit/dom.js";
import { shortName } from "../../kit/format.js";
import { choose } from "../../state/choosing.js";
import { nearestStop, readState } from "../../state/state.js";

/**
 * Show another model, or class of one model, at the nearest epsilon.
 * @param {import("../../types").Model} model
 * @param {string} name
 */
export function chooseModel(model, name) {
  const { models, payload, stop, atReference } = readState(model);
  const other = model.get("other_model") === name ? payload.name : model.get("other_model");
  const { epsilons } = models.find((each) => each.name === name);
  const same = atReference ? epsilons.length : nearestStop(epsilons, payload.epsilons[stop]);
  choose(model, { model_name: name, other_model: other, epsilon_index: Math.max(0, same) });
}

/**
 * Two selects: `element`, and `draw()` after changes; hidden if there is only one model.
 * @param {import("../../types").Model} model
 */
export function modelChoice(model) {
  const words = readState(model).payload.target.by_class ? ["Class", "Compare with class"] : ["Model", "Second model"];
  const read = choiceBox(words[0], (name) => chooseModel(model, name));
  const beside = choiceBox(words[1], (name) => choose(model, { other_model: name }));
  const element = html("div", { class: "dpx-controls dpx-models" }, read.element, beside.element);
  const draw = () => {
    const { models, payload } = readState(model);
    element.hidden = models.length < 2;
    const options = models.map(({ name }) => [name, shortName(name, 40)]);
    read.fill(options, payload.name);
    beside.fill([["", "none"], ...options.filter(([name]) => name !== payload.name)], model.get("other_model") ?? "");
  };
  return { element, draw };
}
