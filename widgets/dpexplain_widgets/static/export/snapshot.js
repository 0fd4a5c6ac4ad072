// A view as one standalone SVG: its pictures, text and boxes in place.
import { svg } from "../kit/dom.js";

const NOT_PART_OF_IT = ".dpx-controls, .dpx-save, .dpx-figure, .dpx-announcement, .dpx-checkbox, .dpx-choice, " +
  ".dpx-readout:has(.dpx-readout-title[hidden]), .dpx-readout-hint, details, button, input, [hidden]";

// Properties that a style sheet may set on a picture, with their defaults.
const PAINT = {
  fill: "rgb(0, 0, 0)", "fill-opacity": "1", stroke: "none", "stroke-width": "1px",
  "stroke-dasharray": "none", "stroke-linecap": "butt", "stroke-linejoin": "miter",
  "stroke-opacity": "1", opacity: "1", "shape-rendering": "auto",
};
const LETTERS = { "font-size": "", "font-weight": "400", "font-family": "" };
const OWN = ["class", "style", "tabindex", "role", "aria-hidden", "aria-label"];

/** A copy of a picture that needs no style sheet. */
function styledCopy(element) {
  const copy = element.cloneNode(false);
  if (element.nodeType !== 1) return copy;
  const style = getComputedStyle(element);
  const wanted = element.tagName === "text" ? { ...PAINT, ...LETTERS } : PAINT;
  for (const [name, usual] of Object.entries(wanted)) {
    const value = style.getPropertyValue(name);
    if (value !== usual) copy.setAttribute(name, value.replace(/url\("(#[^"]*)"\)/, "url($1)"));
  }
  for (const name of OWN) copy.removeAttribute(name);
  for (const child of element.childNodes) {
    if (child.nodeType !== 1 || getComputedStyle(child).display !== "none") copy.append(styledCopy(child));
  }
  return copy;
}

function isSeen(element) {
  const style = getComputedStyle(element);
  return style.display !== "none" && style.visibility !== "hidden";
}

/** The lines of a text node, as broken by the browser: [text, rectangle]. */
function linesOf(node) {
  const range = document.createRange();
  const lines = [];
  for (const { index, 0: word } of node.data.matchAll(/\S+/g)) {
    const characters = Array.from(word);
    let start = index;
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    // A word broken across lines is split.
    for (const piece of range.getClientRects().length > 1 ? characters : [word]) {
      range.setStart(node, start);
      range.setEnd(node, start + piece.length);
      start += piece.length;
      const rectangle = range.getBoundingClientRect();
      const line = lines.at(-1);
      if (line && Math.abs(line.rectangle.top - rectangle.top) < 2) {
        line.text += (piece === word ? " " : "") + piece;
      } else if (rectangle.width > 0) {
        lines.push({ text: piece, rectangle });
      }
    }
  }
  return lines;
}

function isCut({ top, bottom, left }, element) {
  for (let box = element; box && !box.classList.contains("dpx"); box = box.parentElement) {
    if (getComputedStyle(box).overflowY === "visible") continue;
    const frame = box.getBoundingClientRect();
    const middle = (top + bottom) / 2;
    if (middle < frame.top || middle > frame.bottom || left > frame.right) return true;
  }
  return false;
}

function textPieces(node, origin) {
  const element = node.parentElement;
  const style = getComputedStyle(element);
  return linesOf(node).filter(({ rectangle }) => !isCut(rectangle, element)).map(({ text, rectangle }) => {
    const { left, top, height } = rectangle;
    const attributes = {
      x: Math.round(10 * (left - origin.left)) / 10,
      y: Math.round(10 * (top - origin.top + 0.79 * height)) / 10,
      fill: style.color, "font-size": style.fontSize, "font-family": style.fontFamily,
    };
    if (style.fontWeight !== "400") attributes["font-weight"] = style.fontWeight;
    return svg("text", attributes, text);
  });
}

function boxPieces(element, origin) {
  const style = getComputedStyle(element);
  const { left, top, width, height } = element.getBoundingClientRect();
  const [x, y] = [left - origin.left, top - origin.top];
  const pieces = [];
  if (width > 0 && !/, 0\)$|^transparent$/.test(style.backgroundColor)) {
    const frame = { x, y, width, height, rx: parseFloat(style.borderTopLeftRadius) || 0 };
    pieces.push(svg("rect", { ...frame, fill: style.backgroundColor }));
  }
  const sides = {
    Top: [x, y, x + width, y], Bottom: [x, y + height, x + width, y + height],
    Left: [x, y, x, y + height], Right: [x + width, y, x + width, y + height],
  };
  for (const [side, [x1, y1, x2, y2]] of Object.entries(sides)) {
    const thick = parseFloat(style[`border${side}Width`]);
    if (!(thick > 0) || style[`border${side}Style`] === "none") continue;
    const line = { x1, y1, x2, y2, stroke: style[`border${side}Color`], "stroke-width": thick };
    pieces.push(svg("line", line));
  }
  return pieces;
}

function outlinePieces(element, origin) {
  const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(element);
  const thick = parseFloat(outlineWidth);
  if (outlineStyle === "none" || !(thick > 0)) return [];
  const { left, top, width, height } = element.getBoundingClientRect();
  const [x, y] = [left - origin.left - thick, top - origin.top - thick];
  return [svg("rect", { x, y, width: width + 2 * thick, height: height + 2 * thick, fill: outlineColor })];
}

function picturePiece(picture, origin) {
  const { left, top, width, height } = picture.getBoundingClientRect();
  const copy = styledCopy(picture);
  const place = { x: left - origin.left, y: top - origin.top, width, height };
  for (const [name, value] of Object.entries(place)) copy.setAttribute(name, value);
  return copy;
}

const SHARPNESS = 2; // pixels of the file per page pixel

/** A canvas as an embedded picture: each pixel becomes a block, so none is blurred. */
function canvasPiece(canvas, origin) {
  const { left, top, width, height } = canvas.getBoundingClientRect();
  const times = Math.max(1, Math.ceil((SHARPNESS * width) / canvas.width));
  const large = document.createElement("canvas");
  Object.assign(large, { width: canvas.width * times, height: canvas.height * times });
  const context = large.getContext("2d");
  context.imageSmoothingEnabled = false;
  context.drawImage(canvas, 0, 0, large.width, large.height);
  const place = { x: left - origin.left, y: top - origin.top, width, height };
  return svg("image", { ...place, preserveAspectRatio: "none", href: large.toDataURL() });
}

function piecesOf(element, origin, isWhole) {
  if (!isWhole && (element.matches(NOT_PART_OF_IT) || !isSeen(element))) return [];
  if (element.tagName === "svg") return [picturePiece(element, origin)];
  if (element.tagName === "CANVAS") return [...outlinePieces(element, origin), canvasPiece(element, origin)];
  const inside = Array.from(element.childNodes).flatMap((child) => {
    if (child.nodeType === 3) return textPieces(child, origin);
    return child.nodeType === 1 ? piecesOf(child, origin, false) : [];
  });
  return isWhole ? inside : [...boxPieces(element, origin), ...inside];
}

/** The visible part of `element` as SVG elements, and its size. */
export function snapshotOf(element, root) {
  root.classList.add("dpx-saving");
  try {
    const { left, top, width } = element.getBoundingClientRect();
    const shown = Array.from(element.children).filter((each) => !each.matches(NOT_PART_OF_IT));
    const bottom = Math.max(top, ...shown.map((each) => each.getBoundingClientRect().bottom));
    return { pieces: piecesOf(element, { left, top }, true), width, height: bottom - top };
  } finally {
    root.classList.remove("dpx-saving");
  }
}
