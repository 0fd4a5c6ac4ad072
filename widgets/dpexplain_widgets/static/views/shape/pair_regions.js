// Cells and regions of a heat map that a reader chooses by pointer or keys, and the heat map for a figure.
import { cornersOf, regionBetween } from "../claim/pair_claims.js";
import { FIGURE_WIDTH, releasableState } from "../../export/figure.js";
import { mainTerm } from "../../charts/curves.js";
import { html, uniqueId } from "../../kit/dom.js";
import { shortName } from "../../kit/format.js";
import { drawHeatMap, heatScale } from "./heat_map.js";
import { isSecondPick } from "./ranges.js";
import { choose } from "../../state/choosing.js";
import { chosenBin, chosenRange, readState, secondSpan } from "../../state/state.js";
import { scoreWords } from "../../kit/words.js";

/**
 * Chosen cells and region of a pair, as marks of a heat map: [first cell, kind, last cell].
 * @param {import("../../types").State} state
 * @param {import("../../types").TermFit} termFit
 */
export function chosenRegions(state, termFit) {
  const count = termFit.labels.length;
  const range = chosenRange(state, count);
  const cell = chosenBin(state, count);
  const [second, end] = secondSpan(state, count) ?? [null, null];
  const [one, last] = range ?? [cell, cell];
  return [[one, "chosen", last], [second, "second", end]];
}

/**
 * What the pointer and the keys choose: `start`, `move` and `end` of a drag, `pick` by a click, `step` by a key.
 * @param {import("../../types").Model} model
 */
export function regionHands(model) {
  let from = null;
  let isDragged = false;
  let anchor = null;
  const choseRegion = (termFit, isSecond, one, other) => {
    const corners = cornersOf(termFit, regionBetween(termFit, one, other));
    const key = isSecond ? "second_range" : "bin_range";
    if (String(corners) === String(model.get(key))) return;
    choose(model, { [key]: corners, [isSecond ? "second_bin" : "bin_index"]: null });
  };
  return {
    // A mouse or a pen selects cells; a finger scrolls.
    start(event, cell) {
      isDragged = false;
      from = event.button === 0 && event.pointerType !== "touch" ? cell : null;
    },
    move(event, cell) {
      if (event.buttons === 0) from = null; // released outside the window, without an event
      if (from === null || cell === null || (cell === from && !isDragged)) return;
      isDragged = true;
      const state = readState(model);
      choseRegion(mainTerm(state), isSecondPick(event, state), from, cell);
    },
    end() {
      from = null;
    },
    pick(event, cell) {
      if (cell === null || isDragged) return;
      const state = readState(model);
      const { binIndex, secondBin } = state;
      if (isSecondPick(event, state)) {
        choose(model, { second_bin: cell === secondBin ? null : cell, second_range: null });
        return;
      }
      choose(model, { bin_index: cell === binIndex ? null : cell, bin_range: null });
    },
    step(event, before, next, termFit) {
      anchor = event.shiftKey ? anchor ?? before ?? next : null;
      const region = anchor === null ? null : cornersOf(termFit, regionBetween(termFit, anchor, next));
      choose(model, { bin_index: next, bin_range: region });
    },
  };
}

/**
 * The heat map that a panel shows: {key, title, elements}, or a text that says why there is none.
 * @param {import("../../types").State} shown
 * @param {{width: number, font: string, root: Element}} panel
 */
export function pairForFigure(shown, { width, font, root }) {
  const state = releasableState(shown);
  if (typeof state === "string") return state;
  const termFit = mainTerm(state);
  const hatchId = uniqueId("hatch");
  const marked = chosenRegions(state, termFit).filter(([cell]) => cell !== null);
  const drawn = drawHeatMap({ termFit, width: Math.min(width, FIGURE_WIDTH), font, root, mark: null, marked, hatchId });
  const scale = html("p", { class: "dpx-heat-scale" }, html("span", {}, `Adds to ${scoreWords(state.payload)}, from`),
    ...heatScale(termFit, root, hatchId));
  const key = [state.term.name, state.payload.name, state.stop, state.repeat, marked];
  return { key: JSON.stringify(key), title: shortName(state.term.name, 120), elements: [scale, drawn.element] };
}
