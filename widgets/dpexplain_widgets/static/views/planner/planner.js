// Planning: refits on stand-in data by dragging epsilon, and the epsilon that a result needs.
import { button } from "../../kit/controls.js";
import { html, listen, setText, uniqueId } from "../../kit/dom.js";
import { formatEpsilon, shortName } from "../../kit/format.js";
import { linearScale } from "../../charts/scale.js";
import { choose } from "../../state/choosing.js";
import { drawOnChange, readState } from "../../state/state.js";
import { neededWords, onlyMetric, sweepTable, targetWords } from "./sweep_answers.js";
import { scrollBox } from "../../kit/table.js";
import { creatorOf, viewWidget } from "../../kit/view.js";

const STEPS = 200;
const NEEDED_MEANING = "Measured where the fits shown here decide it. Beyond them it is a lower bound, " +
  "assuming that privacy noise shrinks as it does in theory. It costs no privacy.";

/** Epsilon at a position of the slider, with two significant digits. */
function epsilonAt(step, [low, high]) {
  const log = linearScale([0, STEPS], [Math.log(low), Math.log(high)])(step);
  return Math.min(high, Math.max(low, Number(Math.exp(log).toPrecision(2))));
}

function stepOf(epsilon, [low, high]) {
  return Math.round(linearScale([Math.log(low), Math.log(high)], [0, STEPS])(Math.log(epsilon)));
}

class Planner {
  constructor(model, host) {
    this.model = model;
    this.host = host;
    this.build(host);
    this.stops = [
      drawOnChange(model, ["plan"], () => this.draw()),
      drawOnChange(model, ["term", "payload", "model_name", "show_reference"], () => this.drawAnswers()),
      listen(this.slider, "input", () => this.follow()),
      listen(this.target, "change", () => this.ask()),
    ];
    this.draw();
  }

  build(host) {
    const sliderId = uniqueId("slider");
    const targetId = uniqueId("target");
    const ends = { min: 0, max: STEPS, step: 1 };
    this.slider = html("input", { type: "range", id: sliderId, ...ends, class: "dpx-plan-slider" });
    this.value = html("output", { for: sliderId, class: "dpx-big" });
    this.status = html("p", { role: "status", class: "dpx-plan-status" });
    this.progress = html("progress", { max: 1, "aria-label": "Fits done" });
    this.confirm = button("Fit and charge the ledger", () => this.answer("fit"));
    this.stop = button("Cancel", () => this.answer("cancel"));
    this.live = html("div", { class: "dpx-plan-live" },
      html("label", { for: sliderId }, "Drag to refit"), this.slider, this.value);
    this.target = html("input", { type: "number", id: targetId, step: "any", class: "dpx-plan-target" });
    this.targetLabel = html("label", { for: targetId });
    this.targetWords = html("span", { role: "status" });
    this.metric = html("p", { class: "dpx-plan-metric" }, this.targetLabel, this.target, this.targetWords);
    this.termWords = html("p", { class: "dpx-plan-term", role: "status" });
    const box = scrollBox("What each epsilon gives");
    this.sweep = html("details", { class: "dpx-details" }, html("summary", {}, "Every ε"), box);
    this.sweepBox = box;
    this.table = scrollBox("Epsilon that each term needs");
    this.note = html("p", { class: "dpx-note" });
    this.each = html("details", { class: "dpx-details" }, html("summary", {}, "Every term"), this.table, this.note);
    host.append(
      html("header", { class: "dpx-head" }, html("h3", {}, "Which ε do I need?")),
      this.live,
      html("div", { class: "dpx-controls" }, this.progress, this.confirm, this.stop, this.status),
      this.termWords, this.metric, this.sweep, this.each,
    );
  }

  answer(kind) {
    // A new object every time, because the same answer may be given twice. It contains the
    // question shown, because the kernel may ask another.
    const question = this.status.textContent;
    choose(this.model, { answer: { kind, question, time: Date.now() } });
  }

  follow() {
    const { range } = this.model.get("plan");
    const epsilon = epsilonAt(Number(this.slider.value), range);
    setText(this.value, `ε = ${formatEpsilon(epsilon)}`);
    choose(this.model, { wanted_epsilon: epsilon });
  }

  ask() {
    const target = this.target.value === "" ? null : Number(this.target.value);
    choose(this.model, { wanted_metric: target });
    this.drawAnswers();
  }

  // What the fits shown can answer on their own, even in a page without a kernel.
  drawAnswers() {
    const plan = this.model.get("plan");
    if (!plan?.range) return;
    const { payload, term } = readState(this.model);
    this.termWords.replaceChildren(...neededWords(plan.needed, term, payload));
    const metric = onlyMetric(payload);
    this.metric.hidden = metric === "";
    setText(this.targetLabel, `${shortName(metric, 24)} target: `);
    const target = this.target.value === "" ? null : Number(this.target.value);
    setText(this.targetWords, ` ${targetWords(payload, metric, target)}`);
    const table = sweepTable(payload);
    this.sweep.hidden = table === null;
    this.sweepBox.replaceChildren(...(table === null ? [] : [table]));
  }

  draw() {
    const plan = this.model.get("plan");
    // Without private fits, there is nothing to plan from.
    this.host.hidden = !plan?.range || (!plan.live && readState(this.model).payload.epsilons.length === 0);
    if (!plan?.range) return;
    this.live.hidden = !plan.live;
    if (this.value.textContent === "") {
      const epsilon = this.model.get("wanted_epsilon") ?? 1;
      this.slider.value = stepOf(epsilon, plan.range);
      setText(this.value, `ε = ${formatEpsilon(epsilon)}`);
    }
    this.slider.setAttribute("aria-valuetext", this.value.textContent);
    setText(this.status, plan.words);
    this.status.classList.toggle("dpx-caution", plan.state === "failed");
    this.confirm.hidden = plan.state !== "asking";
    this.stop.hidden = !["asking", "working"].includes(plan.state);
    this.progress.hidden = plan.state !== "working" || plan.total < 2;
    this.progress.value = plan.total ? plan.done / plan.total : 0;
    this.drawAnswers();
    this.drawNeeded(plan);
  }

  drawNeeded({ needed, live, data }) {
    this.table.hidden = needed.length === 0;
    const heads = ["term", "rises above the noise from"];
    const head = html("tr", {}, heads.map((name) => html("th", { scope: "col" }, name)));
    const rows = needed.map(([name, , words]) => html("tr", {},
      html("th", { scope: "row" }, html("bdi", {}, shortName(name, 80))), html("td", {}, words)));
    const table = html("table", { class: "dpx-table" }, html("thead", {}, head), html("tbody", {}, rows));
    this.table.replaceChildren(table);
    setText(this.note, [
      needed.length > 0 ? NEEDED_MEANING : "Needs a private fit with known noise.",
      live ? `Dragging refits ${data || "undeclared"} data.` : "",
    ].join(" ").trim());
  }

  destroy() {
    for (const stop of this.stops) stop();
  }
}

/** Put the planner into a host. */
export const createPlanner = creatorOf(Planner);

export default viewWidget("planner", createPlanner);
