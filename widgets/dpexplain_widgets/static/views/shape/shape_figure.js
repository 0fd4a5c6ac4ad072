// The chart of a term for a figure: only releasable parts, with the bins of its claims marked.
import { FIGURE_WIDTH, releasableState } from "../../export/figure.js";
import { mainTerm } from "../../charts/curves.js";
import { html, uniqueId } from "../../kit/dom.js";
import { shortName } from "../../kit/format.js";
import { drawLegend } from "../../charts/legend.js";
import { drawCategoricalShape } from "./shape_categorical.js";
import { drawNumericShape } from "./shape_numeric.js";
import { valueCount } from "../claim/contrasts.js";
import { chosenBin, chosenRange, secondSpan } from "../../state/state.js";

/**
 * The chart that a panel shows: {key, title, elements}, or a text that says why there is none.
 * @param {import("../../types").State} shown
 * @param {{width: number, font: string, options: object}} panel
 */
export function shapeForFigure(shown, { width, font, options }) {
  const state = releasableState(shown);
  if (typeof state === "string") return state;
  const termFit = mainTerm(state);
  const values = valueCount(termFit);
  const ids = { hatch: uniqueId("hatch"), clip: uniqueId("clip") };
  const view = {
    state, ids, font, options, width: Math.min(width, FIGURE_WIDTH), replayed: null, hovered: null,
    bin: chosenBin(state, termFit.labels.length), second: secondSpan(state, termFit.labels.length, values),
    range: chosenRange(state, values),
  };
  const drawn = state.term.kind === "numeric" ? drawNumericShape(view) : drawCategoricalShape(view);
  const legend = html("ul", { class: "dpx-legend" });
  drawLegend(legend, state, termFit, { cut: drawn.cut, hatchId: ids.hatch });
  const marked = [view.bin, view.range, view.second];
  const key = [
    state.term.name, state.payload.name, state.stop, state.repeat, state.pinnedStop, state.shownCurve, ...marked,
  ];
  return { key: JSON.stringify(key), title: shortName(state.term.name, 120), elements: [legend, drawn.element] };
}
