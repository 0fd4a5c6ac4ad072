// Text widths, for placing labels where they fit.
import { shortName } from "./format.js";

const measuredWidths = new Map();
let measuringContext = null;

/** Width in pixels of a text at a font size in the font of the views. */
export function textWidth(text, size, font, weight = "normal") {
  const style = `${weight} ${size}px ${font}`;
  const key = `${style}|${text}`;
  if (!measuredWidths.has(key)) {
    measuringContext ??= document.createElement("canvas").getContext("2d");
    measuringContext.font = style;
    if (measuredWidths.size > 5000) measuredWidths.clear();
    measuredWidths.set(key, measuringContext.measureText(text).width);
  }
  return measuredWidths.get(key);
}

/** The font family that an element is shown in. */
export function fontOf(element) {
  return getComputedStyle(element).fontFamily || "sans-serif";
}

/** The text, cut to `width` pixels with an ellipsis. */
export function fitText(text, width, size, font) {
  const whole = shortName(text, 200);
  if (textWidth(whole, size, font) <= width) return whole;
  const characters = Array.from(whole);
  let [fits, tooLong] = [0, characters.length];
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1;
    const candidate = `${characters.slice(0, middle).join("")}…`;
    if (textWidth(candidate, size, font) <= width) fits = middle;
    else tooLong = middle;
  }
  return `${characters.slice(0, fits).join("").trimEnd()}…`;
}

/** Texts cut to `width` pixels: in the middle, where cutting the end would make several alike. */
export function fitTexts(texts, width, size, font) {
  const cut = texts.map((text) => fitText(text, width, size, font));
  return cut.map((text, i) => {
    if (cut.indexOf(text) === i && cut.lastIndexOf(text) === i) return text;
    const characters = Array.from(shortName(texts[i], 200));
    for (let kept = characters.length - 1; kept > 1; kept -= 1) {
      const head = characters.slice(0, Math.ceil(kept / 3)).join("");
      const candidate = `${head}…${characters.slice(characters.length - Math.floor((2 * kept) / 3)).join("")}`;
      if (textWidth(candidate, size, font) <= width) return candidate;
    }
    return text;
  });
}

/** The text on at most two lines of `width` pixels, broken between words where possible. */
export function wrapText(text, width, size, font) {
  const whole = shortName(text, 200);
  if (textWidth(whole, size, font) <= width) return [whole];
  const words = whole.split(/(?<=[\s/_-])/);
  let first = "";
  while (words.length > 0 && textWidth((first + words[0]).trimEnd(), size, font) <= width) {
    first += words.shift();
  }
  if (first === "") return [fitText(whole, width, size, font)];
  return [first.trimEnd(), fitText(words.join(""), width, size, font)];
}

/**
 * Select labels that fit on one line without touching: `labels` are {center, width, priority};
 * a lower priority number wins. Returns the indices kept.
 */
export function labelsThatFit(labels, gap) {
  const order = labels.map((_, i) => i);
  order.sort((a, b) => labels[a].priority - labels[b].priority || a - b);
  const kept = [];
  for (const i of order) {
    const { center, width } = labels[i];
    const clear = kept.every(
      (j) => Math.abs(labels[j].center - center) >= (labels[j].width + width) / 2 + gap,
    );
    if (clear) kept.push(i);
  }
  return kept.sort((a, b) => a - b);
}
