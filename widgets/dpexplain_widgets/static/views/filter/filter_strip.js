// Maps over table columns, as strips of signed bars and as named rows.
import { svg } from "../../kit/dom.js";
import { formatSigned, shortName } from "../../kit/format.js";
import { NOISE_BAND } from "./filter_data.js";
import { label, LABEL_SIZE } from "../../charts/marks.js";
import { fitText, textWidth } from "../../kit/text.js";

const STRIP_ROW = 24;

function barClass(map, i, masked) {
  const sign = map.values[i] >= 0 ? "positive" : "negative";
  const inside = map.outside !== null && map.outside[i] === 0;
  return `dpx-signed dpx-signed-${sign}${inside ? ` dpx-inside${masked ? " dpx-masked" : ""}` : ""}`;
}

/** A strip of signed bars, one per input, positive ones upwards. */
export function signedStrip(map, { width, height, limit, masked }) {
  const { values } = map;
  const [step, middle] = [width / values.length, height / 2];
  const y = (value) => middle - (Math.max(-limit, Math.min(limit, value)) / limit) * (middle - 2);
  const bars = Array.from(values, (value, i) => {
    const [from, to] = [Math.min(y(value), middle), Math.max(y(value), middle)];
    const size = { width: Math.max(0.6, step * 0.8), height: Math.max(0.6, to - from) };
    return svg("rect", { x: i * step + step * 0.1, y: from, ...size, class: barClass(map, i, masked) });
  });
  const zero = svg("path", { d: `M0 ${middle}H${width}`, class: "dpx-strip-zero" });
  const attributes = { class: "dpx-svg dpx-strip", width, height, viewBox: `0 0 ${width} ${height}` };
  return svg("svg", { ...attributes, "aria-hidden": "true" }, zero, bars);
}

/** Width of the column with the values of a sample. */
function cellRoom(cells, width, font) {
  const widest = Math.max(...cells.map((cell) => textWidth(cell, LABEL_SIZE, font)));
  return Math.min(Math.ceil(widest) + 18, width * 0.2);
}

function weightWhisker(x, y, value, std) {
  const [from, to] = [x(value - NOISE_BAND * std), x(value + NOISE_BAND * std)];
  const d = `M${from} ${y}H${to}M${from} ${y - 4}V${y + 4}M${to} ${y - 4}V${y + 4}`;
  return svg("path", { d, class: "dpx-whisker" });
}

/** Rows of signed bars with the names of the inputs; `cells` are the values of a sample. */
export function signedRows(map, names, { width, limit, masked, chosen, font, cells = null }) {
  const widest = Math.max(...names.map((name) => textWidth(shortName(name, 40), LABEL_SIZE, font)));
  const room = cells === null ? 0 : cellRoom(cells, width, font);
  const named = Math.min(Math.ceil(widest) + 12, Math.max(90, width * 0.4 - room / 2), 260);
  const left = named + room;
  const right = width - 64;
  const x = (value) => {
    const inside = Math.max(-limit, Math.min(limit, value)) / limit;
    return (left + right) / 2 + (inside * (right - left)) / 2;
  };
  const rows = Array.from(map.values, (value, i) => {
    const y = i * STRIP_ROW + STRIP_ROW / 2;
    const [from, to] = [Math.min(x(0), x(value)), Math.max(x(0), x(value))];
    const frame = { x: from, y: y - 7, width: Math.max(1, to - from), height: 14 };
    const back = { x: 0, y: y - STRIP_ROW / 2, width, height: STRIP_ROW };
    return svg(
      "g", {},
      i === chosen ? svg("rect", { ...back, class: "dpx-column-chosen" }) : null,
      svg("title", {}, shortName(names[i], 500)),
      label(fitText(names[i], named - 12, LABEL_SIZE, font), named - 8, y + 4.5, "end"),
      cells === null ? null
        : label(fitText(cells[i], room - 8, LABEL_SIZE, font), left - 10, y + 4.5, "end", "dpx-row-cell"),
      svg("rect", { ...frame, class: barClass(map, i, masked) }),
      map.std === null ? null : weightWhisker(x, y, value, map.std[i]),
      label(formatSigned(value, 2), width - 4, y + 4.5, "end", "dpx-row-number"),
    );
  });
  const height = map.values.length * STRIP_ROW;
  const zero = svg("path", { d: `M${x(0)} 0V${height}`, class: "dpx-strip-zero" });
  const element = svg("svg", { class: "dpx-svg", width, height, "aria-hidden": "true" }, zero, rows);
  return { element, rowHeight: STRIP_ROW };
}
