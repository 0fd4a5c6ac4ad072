// The scale of epsilon: logarithmic, with "no privacy" separate from it.
import { html, listen, svg } from "../../kit/dom.js";
import { formatDelta, formatEpsilon } from "../../kit/format.js";
import { indexAfterKey } from "../../kit/keyboard.js";
import { label, LABEL_SIZE } from "../../charts/marks.js";
import { logPositions, nearestIndex } from "../../charts/scale.js";
import { choose } from "../../state/choosing.js";
import { readState } from "../../state/state.js";
import { fontOf, labelsThatFit, textWidth } from "../../kit/text.js";
import { observeWidth } from "../../kit/view.js";
import { fitWords } from "../../kit/words.js";

const TRACK = { y: 19, height: 46, edge: 16, apart: 104, handle: 9, labels: 43 };

function stopPositions(state, width) {
  const right = width - TRACK.edge - (state.referenceShown ? TRACK.apart : 0);
  const positions = logPositions(state.payload.epsilons, TRACK.edge, Math.max(right, TRACK.edge + 1));
  if (!state.referenceShown) return { positions, right };
  const alone = state.payload.epsilons.length === 0;
  return { positions: [...positions, alone ? width / 2 : width - 44], right };
}

function labelPriority(state, i) {
  if (i === state.stop) return 0;
  if (i >= state.payload.epsilons.length) return 0;
  if (i === 0 || i === state.payload.epsilons.length - 1) return 1;
  return i === state.pinnedStop ? 2 : 3 + (i % 2);
}

function stopLabels(state, positions, font) {
  const texts = positions.map((_, i) =>
    i < state.payload.epsilons.length ? formatEpsilon(state.payload.epsilons[i]) : "no privacy",
  );
  const labels = texts.map((text, i) => ({
    center: positions[i],
    width: textWidth(text, LABEL_SIZE, font, "bold"),
    priority: labelPriority(state, i),
  }));
  return labelsThatFit(labels, 6).map((i) => {
    const kind = i === state.stop ? "dpx-stop-label dpx-stop-chosen" : "dpx-stop-label";
    return label(texts[i], positions[i], TRACK.labels, "middle", kind);
  });
}

function stopMarks(state, positions) {
  return positions.map((x, i) => {
    if (i === state.pinnedStop) {
      return svg("path", { d: `M${x - 5} 1H${x + 5}L${x} 9Z`, class: "dpx-pin" });
    }
    return null;
  });
}

function tracks(state, positions, right) {
  const parts = [];
  if (state.payload.epsilons.length > 0) {
    parts.push(svg("path", { d: `M${TRACK.edge} ${TRACK.y}H${right}`, class: "dpx-track" }));
  }
  const ticks = positions.slice(0, state.payload.epsilons.length);
  parts.push(...ticks.map((x) => svg("circle", { cx: x, cy: TRACK.y, r: 4, class: "dpx-stop" })));
  if (state.referenceShown) {
    const x = positions.at(-1);
    const d = state.payload.epsilons.length > 0 ? `M${right + 22} ${TRACK.y}H${x}` : "";
    parts.push(
      svg("path", { d, class: "dpx-track dpx-track-apart" }),
      svg("circle", { cx: x, cy: TRACK.y, r: 5, class: "dpx-stop dpx-stop-reference" }),
      label("∞", x, 13, "middle", "dpx-infinity"),
    );
  }
  return parts;
}

function handle(state, positions) {
  const kind = state.atReference ? "dpx-handle dpx-handle-reference" : "dpx-handle";
  return svg("circle", { cx: positions[state.stop], cy: TRACK.y, r: TRACK.handle, class: kind });
}

function stopWords(state) {
  const place = `${state.stop + 1} of ${state.stopCount}`;
  if (state.atReference) return `no privacy: the ${fitWords(state)}, ${place}`;
  const { delta } = state.fit.guarantee;
  return `ε = ${formatEpsilon(state.payload.epsilons[state.stop])}, δ = ${formatDelta(delta)}, ${place}`;
}

class Scrubber {
  constructor(model) {
    this.model = model;
    this.width = 0;
    this.positions = [];
    this.element = html("div", {
      class: "dpx-scrubber", role: "slider", tabindex: "0",
      "aria-label": "Privacy parameter epsilon", "aria-orientation": "horizontal",
    });
    this.stops = [
      observeWidth(this.element, (width) => {
        this.width = width;
        this.font = fontOf(this.element);
        this.draw();
      }),
      listen(this.element, "keydown", (event) => this.handleKey(event)),
      ...this.listenToPointer(),
    ];
  }

  draw() {
    if (this.width < 40) return;
    const state = readState(this.model);
    if (state.stopCount === 0) return;
    const { positions, right } = stopPositions(state, this.width);
    this.positions = positions;
    const size = { width: this.width, height: TRACK.height };
    this.element.replaceChildren(
      svg(
        "svg", { class: "dpx-svg", ...size, "aria-hidden": "true" },
        tracks(state, positions, right), stopMarks(state, positions),
        handle(state, positions), stopLabels(state, positions, this.font),
      ),
    );
    this.element.setAttribute("aria-valuemin", "1");
    this.element.setAttribute("aria-valuemax", String(state.stopCount));
    this.element.setAttribute("aria-valuenow", String(state.stop + 1));
    this.element.setAttribute("aria-valuetext", stopWords(state));
  }

  go(stop) {
    if (stop >= 0 && stop !== readState(this.model).stop) choose(this.model, { epsilon_index: stop });
  }

  handleKey(event) {
    const state = readState(this.model);
    const stop = indexAfterKey(event, state.stop, state.stopCount);
    if (stop === null) return;
    event.preventDefault();
    this.go(stop);
  }

  listenToPointer() {
    const follow = (event) => {
      const left = this.element.getBoundingClientRect().left;
      this.go(nearestIndex(this.positions, event.clientX - left));
    };
    return [
      listen(this.element, "pointerdown", (event) => {
        this.element.setPointerCapture(event.pointerId);
        follow(event);
      }),
      listen(this.element, "pointermove", (event) => {
        if (this.element.hasPointerCapture(event.pointerId)) follow(event);
      }),
    ];
  }

  destroy() {
    for (const stop of this.stops) stop();
  }
}

/**
 * The scrubber: `element` to place, `draw()` after changes, `destroy()` at the end.
 * @param {import("../../types").Model} model
 */
export function createScrubber(model) {
  return new Scrubber(model);
}
