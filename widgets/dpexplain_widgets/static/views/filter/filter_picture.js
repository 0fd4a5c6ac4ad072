// Maps of a grid as pictures on a canvas, in a color scale symmetric around zero.

import { svg } from "../../kit/dom.js";
import { paintOverlay } from "./filter_overlay.js";

const COLOUR_STEPS = 127;

/** Rows and columns of the picture of a grid; further dimensions are placed side by side. */
export function pictureSize(gridShape) {
  if (gridShape.length === 1) return [1, gridShape[0]];
  const [rows, columns, ...rest] = gridShape;
  return [rows, columns * rest.reduce((product, n) => product * n, 1)];
}

/** Position of each input in the picture of its grid. */
export function picturePlaces(gridShape) {
  const [rows, width] = pictureSize(gridShape);
  const columns = gridShape.length === 1 ? width : gridShape[1];
  const slices = width / columns;
  return Int32Array.from({ length: rows * width }, (_, i) => {
    const slice = i % slices;
    const column = Math.floor(i / slices) % columns;
    return Math.floor(i / width) * width + slice * columns + column;
  });
}

function mixed(from, to, share) {
  return from.map((value, i) => value + share * (to[i] - value));
}

/** Colors from negative through zero to positive, as bytes, 2 * 127 + 1 of them. */
export function colourTable({ negative, zero, positive }) {
  const table = new Uint8ClampedArray(4 * (2 * COLOUR_STEPS + 1));
  for (let i = -COLOUR_STEPS; i <= COLOUR_STEPS; i += 1) {
    const colour = mixed(zero, i < 0 ? negative : positive, Math.abs(i) / COLOUR_STEPS);
    table.set([...colour, 255], 4 * (i + COLOUR_STEPS));
  }
  return table;
}

/**
 * Write a map into the bytes of a picture `stride` pixels wide, its corner at `start`. If `outside`
 * is given, values inside the noise get the color of the mask.
 */
export function paintMap(bytes, stride, start, { values, outside }, scale) {
  const { places, width, limit, table, mask } = scale;
  for (let i = 0; i < values.length; i += 1) {
    const place = places[i];
    const [row, column] = [Math.floor(place / width), place % width];
    const at = 4 * (start + row * stride + column);
    const hidden = outside !== null && outside !== undefined && outside[i] === 0;
    const level = Math.round((values[i] / limit) * COLOUR_STEPS);
    const step = Math.max(-COLOUR_STEPS, Math.min(COLOUR_STEPS, level)) + COLOUR_STEPS;
    const colour = hidden ? mask : table;
    const from = hidden ? 0 : 4 * step;
    for (let c = 0; c < 4; c += 1) bytes[at + c] = colour[from + c];
  }
}

/**
 * Draw one map on a canvas with one pixel per grid cell, over a sample if the scale has one.
 */
export function drawPicture(canvas, map, scale) {
  const { rows, width } = scale;
  if (canvas.width !== width || canvas.height !== rows) Object.assign(canvas, { width, height: rows });
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, rows);
  if (scale.under) paintOverlay(image.data, map, scale);
  else paintMap(image.data, width, 0, map, scale);
  context.putImageData(image, 0, 0);
}

function rgbOf(style, name) {
  const context = document.createElement("canvas").getContext("2d");
  context.fillStyle = style.getPropertyValue(name).trim() || "#888888";
  const hex = String(context.fillStyle);
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

/** A bar of all colors, from the most negative to the most positive. */
export function colourBar(table) {
  const [steps, width] = [41, 205];
  const parts = Array.from({ length: steps }, (_, i) => {
    const [r, g, b] = table.subarray(4 * Math.round((i / (steps - 1)) * 2 * COLOUR_STEPS));
    const frame = { x: (i * width) / steps, y: 0, width: width / steps + 0.5, height: 12 };
    return svg("rect", { ...frame, fill: `rgb(${r} ${g} ${b})` });
  });
  return svg("svg", { class: "dpx-svg", width, height: 12, "aria-hidden": "true" }, parts);
}

/** Colors of the theme for pictures, read once per theme. */
export function themeColours(root) {
  const style = getComputedStyle(root);
  const [negative, zero, positive, ink, paper] = [
    "--dpx-negative", "--dpx-zero", "--dpx-positive", "--dpx-text", "--dpx-surface",
  ].map((name) => rgbOf(style, name));
  const mask = Uint8ClampedArray.from([...rgbOf(style, "--dpx-mask"), 255]);
  return {
    table: colourTable({ negative, zero, positive }),
    inputs: colourTable({ negative: paper, zero: mixed(paper, ink, 0.5), positive: ink }),
    mask,
  };
}
