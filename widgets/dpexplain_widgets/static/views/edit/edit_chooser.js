// The chosen operation: its box, its number, and what happens to the mean.
import { choiceBox } from "../../kit/controls.js";
import { html } from "../../kit/dom.js";
import { MENU, operationFrom } from "./edit_menu.js";

const MEANS = [["", "default"], ["keep", "kept"], ["change", "changes"], ["intercept", "absorb into intercept"]];

/** The choice; `onChange` is called on every change, and `startOf(choice)` gives an initial number. */
export class OperationChooser {
  constructor(onChange, startOf) {
    this.box = choiceBox("Operation", () => {
      const { chosen } = this;
      if (chosen?.number) this.number.value = String(chosen.start ?? startOf(chosen));
      onChange();
    });
    this.box.select.classList.add("dpx-edit-operation");
    this.meanBox = choiceBox("Mean", onChange);
    this.meanBox.fill(MEANS, "");
    this.number = html("input", { type: "number", step: "any", "aria-label": "Number of the operation", value: "0" });
    this.number.addEventListener("input", onChange);
    this.elements = [this.box.element, this.number, this.meanBox.element];
    this.clear();
  }

  clear() {
    this.box.select.value = "";
  }

  get chosen() {
    return MENU.find((each) => each.name === this.box.select.value);
  }

  /** Offer the operations that suit a curve. */
  draw(curve) {
    const suits = MENU.filter((each) => curve.ordered || !each.ordered);
    const now = this.box.select.value;
    const options = suits.map((each) => [each.name, each.text, each.group]);
    this.box.fill([["", "choose …"], ...options], suits.some((each) => each.name === now) ? now : "");
    const { chosen } = this;
    this.number.hidden = !chosen?.number;
    this.meanBox.element.hidden = chosen === undefined || chosen.repair !== undefined || (chosen.whole ?? false);
  }

  /** The chosen operation on some bins of a curve; throws a readable Error if something is missing. */
  operation(term, curve, bins, choice) {
    const { chosen } = this;
    if (chosen.chosen && bins.length === 0) throw new Error(chosen.chosen);
    const number = Number(this.number.value);
    if (chosen.number && !Number.isFinite(number)) throw new Error("Enter a number.");
    const where = chosen.through ? { ...choice.where(curve, choice.span(bins)), keep: bins.slice(1, -1) }
      : chosen.whole ? {} : choice.where(curve, bins);
    return operationFrom(chosen, term, { number, where, mean: this.meanBox.select.value });
  }
}
