// Marks used by several charts: hatching, axis labels.
import { svg } from "../kit/dom.js";

/** Font size of tick and axis labels, in pixels. */
export const LABEL_SIZE = 13;

/** Hatching that means noise even without color; `on` is "surface" or "bar". */
export function hatchPattern(id, on = "surface") {
  return svg(
    "pattern",
    { id, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    svg("path", { d: "M0 0V6", class: `dpx-hatch-line dpx-hatch-on-${on}` }),
  );
}

/** A small triangle at the edge of a frame: the value lies beyond it. */
export function beyondMark(x, y, direction, role) {
  const shapes = { up: "l-5 8h10Z", down: "l-5 -8h10Z", left: "l8 -5v10Z", right: "l-8 -5v10Z" };
  return svg("path", { d: `M${x} ${y}${shapes[direction]}`, class: `dpx-beyond dpx-beyond-${role}` });
}

/** A clipping rectangle, with room for half a stroke. */
export function clipRectangle(id, { left, right, top, bottom }) {
  const frame = { x: left - 2, y: top - 2, width: Math.max(0, right - left) + 4, height: bottom - top + 4 };
  return svg("clipPath", { id }, svg("rect", frame));
}

/** A label of an axis or tick. */
export function label(text, x, y, anchor = "middle", extra = "") {
  const attributes = { x, y, "text-anchor": anchor, class: `dpx-label ${extra}`.trim() };
  return svg("text", attributes, text);
}

/** Horizontal or vertical line of an axis or grid. */
export function rule(x1, y1, x2, y2, kind) {
  return svg("line", { x1, y1, x2, y2, class: `dpx-rule dpx-rule-${kind}` });
}
