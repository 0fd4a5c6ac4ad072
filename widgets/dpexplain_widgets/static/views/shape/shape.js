// The shape view: one term, or all terms as small charts.
import { checkbox } from "../../kit/controls.js";
import { html } from "../../kit/dom.js";
import { createMultiples } from "./multiples.js";
import { createShapePanel } from "./shape_panel.js";
import { standaloneParts } from "../../kit/standalone.js";
import { choose } from "../../state/choosing.js";
import { drawOnChange } from "../../state/state.js";
import { viewWidget } from "../../kit/view.js";

/**
 * Put the shape view into `host`. Returns a function that ends it.
 * @param {import("../../types").Model} model
 */
function createShape(model, host, options) {
  let stopShown = () => {};
  let shown = null;
  const alone = standaloneParts(model);
  const box = checkbox("Show all as small charts", false, (on) => choose(model, { small_multiples: on }));
  const part = html("div", { class: "dpx-shape-part" });
  host.append(html("div", { class: "dpx-controls dpx-shape-switch" }, box.element), part);
  const extra = html("div", {}, html("div", { class: "dpx-controls" }, alone.controls), alone.sentence);
  host.append(extra);
  const draw = () => {
    const many = Boolean(model.get("small_multiples"));
    if (many === shown) return;
    shown = many;
    box.input.checked = many;
    stopShown();
    part.replaceChildren();
    stopShown = (many ? createMultiples : createShapePanel)(model, part, options);
  };
  const stop = drawOnChange(model, ["small_multiples"], draw);
  draw();
  return () => {
    stop();
    stopShown();
    alone.destroy();
  };
}

export default viewWidget("shape", createShape);
