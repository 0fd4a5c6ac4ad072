// A view as a standalone picture, with its guarantee inside.
import { watermarkText } from "../charts/curves.js";
import { html, svg } from "../kit/dom.js";
import { withTexts } from "./png.js";
import { snapshotOf } from "./snapshot.js";
import { readState } from "../state/state.js";
import { fontOf, textWidth } from "../kit/text.js";
import { epsilonWords, guaranteeDetail, guaranteeSentence } from "../kit/words.js";

const ROOM_AROUND = 20;
const PIXELS_PER_UNIT = 2;

/** The heading of a view. */
export function headingOf(view) {
  return view.querySelector("h2, h3")?.textContent.trim() || "View";
}

/** Whether a view shows one of the samples, or something computed from it. */
function showsSample(view) {
  const inside = ".dpx-local, .dpx-filter-sample:not([hidden])";
  return view.matches(inside) || view.querySelector(inside) !== null;
}

/** Whether a view is the figure, which contains only private fits, maybe at several epsilons. */
function isFigure(view) {
  return view.matches(".dpx-figure");
}

/** The watermark that a saved view needs, or null. */
function openWords(state, view) {
  if (state.fit === undefined || isFigure(view)) return null;
  const measured = view.querySelector(".dpx-metric-line") !== null;
  const sampled = state.payload.samples?.public === false && showsSample(view);
  return watermarkText(state) ?? (measured || sampled ? "not releasable" : null);
}

/**
 * The cost of all fits, if there may be several. Views draw other fits than the selected one: repeats,
 * pinned fits, other models, and claims at every ε.
 */
function costOfAll({ payload }) {
  return payload.guarantee_words.length > 1 ? payload.guarantee_words : [];
}

function captionWords(state, view) {
  if (state.fit === undefined || isFigure(view)) return state.payload.guarantee_words;
  const { guarantee } = state.fit;
  const what = guarantee.private ? epsilonWords(state) : "NOT PRIVATE — do not publish";
  return [`${what} · ${guaranteeDetail(guarantee)}`, guaranteeSentence(guarantee), ...costOfAll(state)];
}

function brokenWords(words, width, font) {
  const lines = [""];
  for (const word of words.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (textWidth(longer, 12, font) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

function watermarkPiece(words, width, height, color) {
  const size = Math.min(64, width / (0.62 * words.length));
  const place = `translate(${width / 2} ${height / 2}) rotate(-18)`;
  return svg("text", {
    transform: place, fill: color, opacity: 0.22, "text-anchor": "middle",
    "font-family": "sans-serif", "font-size": size, "font-weight": 700,
  }, words);
}

/** Copies of the patterns that a picture shares with others on the page. */
function missingPatterns(picture) {
  const text = new XMLSerializer().serializeToString(picture);
  const names = new Set(Array.from(text.matchAll(/url\(#([\w-]+)\)/g), (match) => match[1]));
  return Array.from(names).filter((id) => !text.includes(`id="${id}"`))
    .map((id) => document.getElementById(id)?.cloneNode(true)).filter(Boolean);
}

function captionPieces(sentences, width, top, color, font) {
  const lines = sentences.flatMap((words) => brokenWords(words, width, font));
  const letters = { x: ROOM_AROUND, fill: color, "font-size": 12, "font-family": font };
  return lines.map((line, i) => svg("text", { ...letters, y: top + 18 * (i + 1) }, line));
}

/**
 * The guarantees of the selected fit and of all fits in one line, with a warning if it must not be shared.
 * @param {import("../types").Model} model
 */
export function guaranteeLine(view, model) {
  const state = readState(model);
  const open = openWords(state, view);
  const words = [...captionWords(state, view).slice(0, 1), ...costOfAll(state)];
  return `${open === null ? "" : `${open}. `}${Array.from(new Set(words)).join("; ")}`;
}

/**
 * A view as an SVG element: the view, its guarantee below, and a watermark if needed.
 * @param {import("../types").Model} model
 */
export function pictureOf(view, root, model) {
  const state = readState(model);
  const color = (name) => getComputedStyle(root).getPropertyValue(`--dpx-${name}`).trim();
  const { pieces, width, height } = snapshotOf(view, root);
  const top = height + ROOM_AROUND + 10;
  const caption = captionPieces(captionWords(state, view), width, top, color("muted"), fontOf(root));
  const [wide, high] = [width + 2 * ROOM_AROUND, top + 18 * caption.length + ROOM_AROUND].map(Math.ceil);
  const size = { width: wide, height: high };
  const open = openWords(state, view);
  const own = isFigure(view) ? undefined : state.fit?.guarantee.statement;
  const statement = own ? [own, ...costOfAll(state)].join(" ") : state.payload.guarantee_words.join(" ");
  const isMarked = open === null || view.querySelector(".dpx-watermark") !== null;
  const picture = svg("svg", { ...size, viewBox: `0 0 ${wide} ${high}`, role: "img" },
    svg("title", {}, headingOf(view)),
    svg("desc", {}, open === null ? statement : `${open}. ${statement}`),
    svg("rect", { ...size, fill: color("surface") }),
    svg("g", { transform: `translate(${ROOM_AROUND} ${ROOM_AROUND})` }, pieces),
    caption,
    isMarked ? null : watermarkPiece(open, wide, high, color("reference")));
  const shared = missingPatterns(picture);
  if (shared.length > 0) picture.append(svg("defs", {}, shared));
  return picture;
}

/** The text of an SVG file. */
export function svgText(picture) {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(picture)}\n`;
}

/** The text of an HTML file that shows a picture on a page of its own. */
export function pageText(picture) {
  const text = new XMLSerializer().serializeToString(picture);
  return `<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>Figure</title>\n${text}\n`;
}

/** A PNG file of a picture, with its title and description as texts inside. */
export async function pngOf(picture) {
  const [width, height] = ["width", "height"].map((name) => Number(picture.getAttribute(name)));
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(picture))}`;
  await image.decode();
  const canvas = html("canvas", { width: width * PIXELS_PER_UNIT, height: height * PIXELS_PER_UNIT });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
  const words = (tag) => picture.querySelector(tag).textContent;
  const texts = { Title: words("title"), Description: words("desc") };
  return withTexts(new Uint8Array(await blob.arrayBuffer()), texts);
}

