// Metrics of the edited model on data held by Python: free on public data, charged on private data.
import { button } from "../../kit/controls.js";
import { html, setText } from "../../kit/dom.js";
import { formatNumber } from "../../kit/format.js";

/**
 * The panel; `draw()` fills it. Hidden if Python has no data to measure on.
 * @param {import("../../types").Model} model
 */
export function measurePanel(model) {
  const words = html("p", { class: "dpx-note", role: "status" });
  const ask = button("Measure", () => request());
  const confirm = button("Yes, charge the ledger", () => send());
  const cancel = button("No", () => draw());
  const buttons = html("div", { class: "dpx-controls" }, ask, confirm, cancel);
  const element = html("div", {}, html("h4", {}, "Metrics"), words, buttons);

  function send() {
    model.set("evaluation_request", (model.get("evaluation_request") ?? 0) + 1);
    model.save_changes();
    setText(words, "measuring …");
    confirm.hidden = cancel.hidden = true;
  }

  function request() {
    const { cost } = model.get("evaluation");
    if (!cost) return send();
    setText(words, `These data are private. One measurement costs ${cost}. Measure now?`);
    ask.hidden = true;
    confirm.hidden = cancel.hidden = false;
    return confirm.focus();
  }

  function draw() {
    const evaluation = model.get("evaluation") ?? {};
    element.hidden = evaluation.cost === undefined;
    ask.hidden = false;
    confirm.hidden = cancel.hidden = true;
    const found = Object.entries(evaluation.metrics ?? {}).map(([name, value]) => `${name} ${formatNumber(value, 4)}`);
    const cost = evaluation.cost ? `Each measurement costs ${evaluation.cost}.` : "Public data: free.";
    setText(words, [evaluation.problem, found.join(", "), cost].filter(Boolean).join(" · "));
  }
  return { element, draw };
}
