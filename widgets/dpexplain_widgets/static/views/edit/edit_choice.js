// The bins an edit applies to: a brushed range, single categories, or the whole curve.
import { choose } from "../../state/choosing.js";
import { chosenRange } from "../../state/state.js";

/** The chosen bins of a curve: those of the range that all views share, or picked ones. */
export class BinChoice {
  constructor(model) {
    this.model = model;
    this.picked = new Set();
    this.of = "";
  }

  /** Picked bins belong to one term at one epsilon. */
  follow(key) {
    if (key === this.of) return;
    this.of = key;
    this.picked.clear();
  }

  bins(state, curve) {
    if (this.picked.size > 0) return [...this.picked].sort((a, b) => a - b);
    const range = curve.ordered ? chosenRange(state, curve.valueBins) : null;
    if (range === null) return [];
    return Array.from({ length: range[1] - range[0] + 1 }, (_, i) => range[0] + i);
  }

  range(curve, from, to) {
    const [first, last] = [Math.min(from, to), Math.max(from, to)];
    if (curve.ordered && last < curve.valueBins) {
      this.picked.clear();
      choose(this.model, { bin_range: [first, last] });
    } else {
      this.picked = new Set(Array.from({ length: last - first + 1 }, (_, i) => first + i));
    }
  }

  /** Add a bin to the selection, or remove it. */
  toggle(bin, chosen) {
    if (!this.single) {
      this.picked = new Set(chosen);
      choose(this.model, { bin_range: null });
    }
    if (!this.picked.delete(bin)) this.picked.add(bin);
  }

  /** Whether bins are picked individually. */
  get single() {
    return this.picked.size > 0;
  }

  /** All bins from the first chosen one to the last. */
  span(bins) {
    return Array.from({ length: bins.at(-1) - bins[0] + 1 }, (_, i) => bins[0] + i);
  }

  clear() {
    this.picked.clear();
    choose(this.model, { bin_range: null });
  }

  /** The bins of an operation, by value or label, so that it applies to other ε. */
  where(curve, bins) {
    if (bins.length === 0) return {};
    const { edges, labels } = curve.termFit;
    const run = bins.at(-1) - bins[0] + 1 === bins.length && bins.at(-1) < curve.valueBins;
    if (edges && run) return { within: [edges[bins[0]], edges[bins.at(-1) + 1]] };
    if (!edges || bins.every((bin) => bin >= curve.valueBins)) return { names: bins.map((bin) => labels[bin]) };
    return { bins };
  }
}
