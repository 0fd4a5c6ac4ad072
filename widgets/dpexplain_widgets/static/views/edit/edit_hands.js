// Mouse and keyboard actions on a curve: choose bins, drag, nudge, undo.
import { listen } from "../../kit/dom.js";
import { keepLog, logOf, redone, undone, withEdit } from "./edit_log.js";
import { isTyping } from "../../kit/keyboard.js";

/** Mouse and keyboard handlers of the plot of an edit panel. */
export class EditHands {
  constructor(panel) {
    this.panel = panel;
    this.cursor = null;
    this.anchor = null;
    this.drag = null;
    this.nudged = null;
  }

  listen(host) {
    const { plot } = this.panel;
    return [
      listen(host, "keydown", (event) => this.undoByKey(event)),
      listen(plot, "keydown", (event) => this.handleKey(event)),
      listen(plot, "pointerdown", (event) => this.press(event)),
      listen(plot, "pointermove", (event) => this.move(event)),
      listen(plot, "pointerup", () => this.release()),
      listen(plot, "pointercancel", () => this.cancelDrag()),
    ];
  }

  undoByKey(event) {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || isTyping(event)) return;
    const key = event.key.toLowerCase();
    if (key !== "z" && key !== "y") return;
    const step = key === "z" && !event.shiftKey ? undone : redone;
    event.preventDefault();
    event.stopPropagation();
    keepLog(this.panel.model, step(logOf(this.panel.model)));
  }

  handleKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || this.panel.now === undefined) return;
    const side = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
    const nudge = { ArrowUp: 1, ArrowDown: -1, PageUp: 5, PageDown: -5 }[event.key];
    if (side !== undefined) this.step(side, event.shiftKey);
    else if (nudge !== undefined) this.nudge(nudge * this.panel.drawn.nudge);
    else if (event.key === "Enter" && !event.shiftKey) this.panel.applyPreview();
    else if (event.key === " ") this.pick();
    else return;
    event.preventDefault();
  }

  step(side, extend) {
    const { curve } = this.panel.now;
    const count = curve.values.length;
    const bins = this.panel.choice.bins(this.panel.now.state, curve);
    const from = this.cursor ?? (side > 0 ? -1 : count);
    const to = Math.max(0, Math.min(count - 1, from + side));
    if (this.panel.choice.single && !extend) {
      this.cursor = to;
      return this.panel.draw();
    }
    this.anchor = extend && bins.length > 0 ? this.anchor ?? bins[0] : to;
    this.cursor = to;
    this.panel.choice.range(curve, this.anchor, to);
    return this.panel.draw();
  }

  // The first single bin is added to the selection; a lone selected bin at the cursor restarts it.
  pick() {
    if (this.cursor === null) return;
    const { choice, now } = this.panel;
    const bins = choice.bins(now.state, now.curve);
    const alone = !choice.single && bins.length === 1 && bins[0] === this.cursor;
    choice.toggle(this.cursor, alone ? [] : bins);
    this.panel.draw();
  }

  // Consecutive nudges of the same bins count as one edit.
  nudge(by) {
    const { now, choice, model } = this.panel;
    const log = logOf(model);
    const shift = { operation: "shift", term: now.state.term.name, by: 0 };
    const wanted = { ...shift, ...choice.where(now.curve, choice.bins(now.state, now.curve)) };
    const last = log.entries.at(-1)?.operation;
    const isLast = log.head === log.entries.length - 1 && this.nudged === log.head;
    const same = isLast && JSON.stringify({ ...last, by: 0 }) === JSON.stringify(wanted);
    const operation = { ...wanted, by: Number(((same ? last.by : 0) + by).toPrecision(12)) };
    const entries = log.entries.map((entry, i) => (i === log.head ? { ...entry, operation } : entry));
    const next = same ? { ...log, entries } : withEdit(log, operation, this.panel.author.signature());
    this.nudged = next.head;
    keepLog(model, next);
  }

  placeOf(event) {
    const frame = this.panel.plot.getBoundingClientRect();
    return [event.clientX - frame.left, event.clientY - frame.top];
  }

  press(event) {
    if (event.button !== 0 || this.panel.drawn === undefined) return;
    const [x, y] = this.placeOf(event);
    const bin = this.panel.drawn.binAt(x);
    this.panel.plot.setPointerCapture(event.pointerId);
    this.panel.plot.focus({ preventScroll: true });
    this.cursor = bin;
    this.anchor = bin;
    if (event.ctrlKey || event.metaKey) {
      this.pick();
    } else if (this.panel.drawn.nearCurve(x, y)) {
      const { choice, now, drawn } = this.panel;
      const bins = choice.bins(now.state, now.curve);
      const where = choice.where(now.curve, bins.includes(bin) ? bins : [bin]);
      this.drag = { kind: "curve", start: drawn.valueAt(y), where, valueAt: drawn.valueAt };
    } else {
      this.drag = { kind: "range", from: bin };
      this.panel.choice.range(this.panel.now.curve, bin, bin);
    }
    this.panel.draw();
  }

  move(event) {
    if (this.drag === null) return;
    const [x, y] = this.placeOf(event);
    if (this.drag.kind === "range") {
      const bin = this.panel.drawn.binAt(x);
      if (bin === this.cursor) return;
      this.cursor = bin;
      this.panel.choice.range(this.panel.now.curve, this.drag.from, bin);
    } else {
      const by = Number((this.drag.valueAt(y) - this.drag.start).toPrecision(4));
      const shift = { operation: "shift", term: this.panel.now.state.term.name, by, ...this.drag.where };
      this.drag.operation = by === 0 ? null : shift;
    }
    this.panel.draw();
  }

  release() {
    const operation = this.drag?.operation;
    this.drag = null;
    if (operation) this.panel.keep(operation);
    else this.panel.draw();
  }

  cancelDrag() {
    this.drag = null;
    this.panel.draw();
  }
}
