// A pair of features as a heat map, with colors symmetric around zero.
import { html, svg } from "../../kit/dom.js";
import { drawPicture, themeColours } from "../filter/filter_picture.js";
import { formatNumber, shortName } from "../../kit/format.js";
import { hatchPattern, label, LABEL_SIZE } from "../../charts/marks.js";
import { fitText, labelsThatFit, textWidth } from "../../kit/text.js";
import { watermark } from "../../charts/watermark.js";

const HEAT = { top: 12, mark: 24, below: 58, cell: 15, least: 180, most: 380, scale: 14 };

/** Rows and columns of a pair. */
export function pairShape({ axes }) {
  return axes.map(({ labels }) => labels.length);
}

/**
 * Row and column of a cell; cells are numbered row by row.
 * @returns {[number, number]}
 */
export function cellPlace(termFit, cell) {
  const columns = pairShape(termFit)[1];
  return [Math.floor(cell / columns), cell % columns];
}

/** Largest absolute contribution, the end of the color scale; 1 if all are zero. */
function heatLimit({ contribution }) {
  return contribution.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
}

/** The cells as image data, the first row at the bottom. */
function cellPicture(termFit, table, frame) {
  const [rows, width] = pairShape(termFit);
  const places = Int32Array.from(termFit.contribution, (_, cell) => {
    const [row, column] = cellPlace(termFit, cell);
    return (rows - 1 - row) * width + column;
  });
  const canvas = html("canvas");
  const map = { values: termFit.contribution, outside: null };
  drawPicture(canvas, map, { rows, width, places, limit: heatLimit(termFit), table, mask: null });
  return svg("image", {
    ...frame, href: canvas.toDataURL(), preserveAspectRatio: "none", style: "image-rendering: pixelated",
  });
}

function rowLabels({ labels }, y, left, font) {
  const texts = labels.map((name) => fitText(name, left - 30, LABEL_SIZE, font));
  const standing = labels.map((_, i) => ({ center: y(i), width: 12, priority: i >= labels.length - 1 ? 0 : 1 }));
  return labelsThatFit(standing, 4).map((i) => label(texts[i], left - 6, y(i) + 4, "end"));
}

function columnLabels({ labels }, x, top, room, font) {
  const texts = labels.map((name) => fitText(name, room, LABEL_SIZE, font));
  const standing = texts.map((text, i) => ({
    center: x(i), width: textWidth(text, LABEL_SIZE, font), priority: i >= labels.length - 1 ? 0 : 1,
  }));
  return labelsThatFit(standing, 10).map((i) => label(texts[i], x(i), top));
}

function axisName({ name, unit }) {
  return shortName(unit ? `${name} [${unit}]` : name, 60);
}

function layoutOf(termFit, width, font, top) {
  const [rows, columns] = pairShape(termFit);
  const widest = Math.max(...termFit.axes[0].labels.map((name) => textWidth(name.slice(0, 60), LABEL_SIZE, font)));
  const left = Math.ceil(Math.min(widest, Math.max(60, width * 0.26))) + 32;
  const height = Math.max(HEAT.least, Math.min(HEAT.most, rows * HEAT.cell));
  const right = width - 16;
  const [cellWidth, cellHeight] = [(right - left) / columns, height / rows];
  return {
    left, right, height, rows, columns, cellWidth, cellHeight, top, bottom: top + height,
    x: (column) => left + (column + 0.5) * cellWidth,
    y: (row) => top + height - (row + 0.5) * cellHeight,
  };
}

function cellFrame({ x, y, cellWidth, cellHeight }, [row, column], [lastRow, lastColumn], kind) {
  const frame = {
    x: x(column) - cellWidth / 2, y: y(lastRow) - cellHeight / 2,
    width: (lastColumn - column + 1) * cellWidth, height: (lastRow - row + 1) * cellHeight,
  };
  return svg("rect", { ...frame, class: `dpx-heat-cell-frame dpx-heat-cell-${kind}` });
}

/** Hatching over the cells that may be noise; null if there are none, or if the noise is unknown. */
function noiseHatching(termFit, { x, y, cellWidth, cellHeight }, id) {
  if (!termFit.signal?.includes(false)) return null;
  const d = termFit.signal.map((mark, cell) => {
    const [row, column] = cellPlace(termFit, cell);
    const [left, top] = [x(column) - cellWidth / 2, y(row) - cellHeight / 2];
    return mark ? "" : `M${left} ${top}h${cellWidth}v${cellHeight}h${-cellWidth}Z`;
  }).join("");
  return [svg("defs", {}, hatchPattern(id)), svg("path", { d, fill: `url(#${id})` })];
}

/**
 * Draw the heat map. Regions in `marked` are [first cell, kind, last cell if it is another]; `hatchId` names the
 * pattern of noise.
 * Returns {element, cellAt(x, y)}, which returns null outside the cells.
 */
export function drawHeatMap({ termFit, width, font, root, mark, marked, hatchId }) {
  const top = HEAT.top + (mark ? HEAT.mark : 0);
  const layout = layoutOf(termFit, width, font, top);
  const { left, right, bottom, height, rows, columns, cellWidth, cellHeight } = layout;
  const frame = { x: left, y: top, width: right - left, height };
  const total = bottom + HEAT.below;
  const [first, second] = termFit.axes;
  const middle = top + height / 2;
  const rowTitle = label(axisName(first), 12, middle, "middle", "dpx-axis-title");
  rowTitle.setAttribute("transform", `rotate(-90 12 ${middle})`);
  const room = Math.max(40, (right - left) / Math.min(columns, 5) - 10);
  const element = svg("svg", { class: "dpx-svg", width, height: total, "aria-hidden": "true" },
    cellPicture(termFit, themeColours(root).table, frame),
    noiseHatching(termFit, layout, hatchId),
    svg("rect", { ...frame, class: "dpx-heat-frame" }),
    rowLabels(first, layout.y, left, font),
    columnLabels(second, layout.x, bottom + 18, room, font),
    rowTitle,
    label(axisName(second), (left + right) / 2, bottom + 42, "middle", "dpx-axis-title"),
    ...marked.map(([cell, kind, last = cell]) =>
      cellFrame(layout, cellPlace(termFit, cell), cellPlace(termFit, last), kind)),
    mark ? watermark(mark, { left: 0, right: width, top: 0, bottom: top }, font, []) : null);
  const cellAt = (x, y) => {
    const [column, row] = [Math.floor((x - left) / cellWidth), Math.floor((bottom - y) / cellHeight)];
    const inside = column >= 0 && column < columns && row >= 0 && row < rows;
    return inside ? row * columns + column : null;
  };
  return { element, cellAt };
}

/** The heat map only, for a grid of small charts. */
export function drawSmallHeatMap({ termFit, width, height, root }) {
  const frame = { x: 0, y: 0, width, height };
  return svg("svg", { class: "dpx-svg", width, height, "aria-hidden": "true" },
    cellPicture(termFit, themeColours(root).table, frame),
    svg("rect", { ...frame, class: "dpx-heat-frame" }));
}

/** The color scale, as a strip from lowest to highest, and the meaning of the hatching. */
export function heatScale(termFit, root, hatchId) {
  const { table } = themeColours(root);
  const canvas = html("canvas", { width: table.length / 4, height: 1 });
  canvas.getContext("2d").putImageData(new ImageData(table, table.length / 4, 1), 0, 0);
  const limit = formatNumber(heatLimit(termFit));
  const strip = svg("image", {
    x: 0, y: 0, width: 160, height: HEAT.scale, href: canvas.toDataURL(), preserveAspectRatio: "none",
  });
  return [
    html("span", { class: "dpx-heat-ends" }, `−${limit}`,
      svg("svg", { class: "dpx-swatch", width: 160, height: HEAT.scale, "aria-hidden": "true" }, strip), `+${limit}`),
    termFit.signal?.includes(false) ? html("span", { class: "dpx-legend-item" },
      svg("svg", { class: "dpx-swatch", width: 30, height: HEAT.scale, "aria-hidden": "true" },
        svg("rect", { width: 30, height: HEAT.scale, fill: `url(#${hatchId})` })),
      "hatched: may be noise") : "",
  ];
}
