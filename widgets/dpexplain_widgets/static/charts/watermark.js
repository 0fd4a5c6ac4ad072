// Warnings printed on a picture, where they cover as little of it as possible.
import { svg } from "../kit/dom.js";
import { textWidth } from "../kit/text.js";

const MARGIN = 10;

function overlap(one, other) {
  const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
  const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
  return Math.max(0, across) * Math.max(0, down);
}

function between(low, high, parts) {
  return Array.from({ length: parts + 1 }, (_, i) => low + ((high - low) * i) / parts);
}

/**
 * The position inside a frame where a box of `width` and `height` covers the least of the
 * obstacles. Frame, obstacles and result are {left, right, top, bottom}; the upper right corner
 * wins if nothing is in the way.
 */
export function freePlace({ left, right, top, bottom }, width, height, obstacles) {
  const lefts = between(Math.max(left, right - MARGIN - width), left + MARGIN, 4);
  const tops = between(top + MARGIN / 2, Math.max(top, bottom - MARGIN / 2 - height), 6);
  const places = tops.flatMap((y) =>
    lefts.map((x) => ({ left: x, right: x + width, top: y, bottom: y + height })),
  );
  const covered = (place) => obstacles.reduce((sum, each) => sum + overlap(place, each), 0);
  const costs = places.map(covered);
  return places[costs.indexOf(Math.min(...costs))];
}

/** The space a step curve occupies: its levels and its steps, with the width of the stroke. */
export function curveObstacles(edges, values, x, y, stroke = 4) {
  return values.flatMap((value, i) => {
    const [from, to] = [x(edges[i]), x(edges[i + 1])];
    const [at, next] = [y(value), y(values[i + 1] ?? value)];
    const level = { left: from, right: to, top: at - stroke, bottom: at + stroke };
    const [top, bottom] = [Math.min(at, next), Math.max(at, next)];
    return [level, { left: to - stroke, right: to + stroke, top, bottom }];
  });
}

/** Large faint words inside a frame that avoid the obstacles if there is room. */
export function watermark(text, frame, font, obstacles) {
  const widest = frame.right - frame.left - 2 * MARGIN;
  const size = Math.max(16, Math.min(30, (widest / textWidth(text, 100, font)) * 100));
  const place = freePlace(frame, textWidth(text, size, font), 1.2 * size, obstacles);
  const [x, y] = [(place.left + place.right) / 2, (place.top + place.bottom) / 2];
  const attributes = { x, y, "text-anchor": "middle", "dominant-baseline": "middle" };
  return svg("text", { ...attributes, "font-size": size, class: "dpx-watermark" }, text);
}
