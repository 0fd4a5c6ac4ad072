// A small chart of one term, for a grid of many.
import { crowdsTheAxis, splitSpecial, valuePosition } from "../../charts/bins.js";
import { valueRange } from "../local/contributions.js";
import { effectCurve, effectEnds, noiseEnds } from "../../charts/curves.js";
import { svg, uniqueId } from "../../kit/dom.js";
import { formatTick, formatValue } from "../../kit/format.js";
import { clipRectangle, label, LABEL_SIZE, rule } from "../../charts/marks.js";
import { bandPath, stepPath } from "../../charts/path.js";
import { linearScale, niceAxis } from "../../charts/scale.js";
import { textWidth } from "../../kit/text.js";

const SMALL = { height: 122, top: 8, bottom: 96, foot: 115 };

/**
 * Values on the axis of a small chart, the same at every epsilon: all curves, limited bands, but no spikes of the
 * reference.
 */
export function smallAxisValues(curves, everyFit) {
  const ordinary = (termFit) => splitSpecial(termFit, termFit.contribution).ordinary;
  const main = curves.at(-1).termFit;
  const isLimited = ({ role, termFit }) => role === "reference" && termFit !== main;
  const own = curves.filter((each) => !isLimited(each)).map(({ termFit }) => termFit);
  const estimated = curves.some(({ role }) => role === "effect");
  const estimates = estimated ? everyFit.map(effectCurve).filter((termFit) => termFit !== null) : [];
  const values = [...own, ...everyFit, ...estimates].flatMap(ordinary);
  const reach = Math.max(...values.map(Math.abs), 1e-9) * 1.4;
  const limited = [
    ...[main, ...everyFit].flatMap((termFit) => splitSpecial(termFit, noiseEnds(termFit) ?? []).ordinary.flat()),
    ...curves.filter(isLimited).flatMap(({ termFit }) => ordinary(termFit)),
  ];
  return [...values, ...limited.map((end) => Math.max(-reach, Math.min(reach, end)))];
}

function smallSteps(termFit, everyFit, left, right) {
  if (termFit.edges === null) {
    const count = Math.max(1, termFit.labels.length - termFit.special.length);
    const edges = Array.from({ length: count + 1 }, (_, i) => i);
    return { edges, x: linearScale([0, count], [left, right]) };
  }
  const even = crowdsTheAxis([termFit, ...everyFit], right - left);
  return { edges: termFit.edges, x: valuePosition(termFit.edges, even, left, right) };
}

// Categories of another fit are placed where the main fit has them.
function valuesAt(termFit, main) {
  if (main.edges !== null) return splitSpecial(termFit, termFit.contribution).ordinary;
  const labels = splitSpecial(main, main.labels).ordinary;
  return labels.map((name) => termFit.contribution[termFit.labels.indexOf(name)] ?? 0);
}

function bandOf(main, { edges, x, y }, { ends = noiseEnds(main), kind = "dpx-band" } = {}) {
  if (ends === null) return [];
  const on = splitSpecial(main, ends).ordinary;
  const [low, high] = [0, 1].map((end) => on.map((pair) => pair[end]));
  return [[kind, bandPath(edges, low, high, x, y)]];
}

/** The first and the last value of an axis, formatted. */
export function endTexts(term, edges) {
  return valueRange(term, { edges }).map((end) => formatValue(term, end));
}

/** Both ends of the axis, or the number of categories. */
function axisTexts(term, { edges, labels, special }) {
  return edges === null ? [`${labels.length - special.length} categories`] : endTexts(term, edges);
}

/**
 * Labels below the axis: one text in the middle, or two at its ends.
 * @param {string[]} ends
 * @param {number} left
 * @param {number} right
 * @param {string} font
 */
function endLabels(ends, left, right, font) {
  if (ends.length === 1) return [label(ends[0], (left + right) / 2, SMALL.foot)];
  const [low, high] = endsThatFit(ends, (text) => textWidth(text, LABEL_SIZE, font) < right - left);
  const last = high === undefined ? [] : [label(high, right, SMALL.foot, "end")];
  return [label(low, left, SMALL.foot, "start"), ...last];
}

/**
 * Both ends of an axis, with dates by month or by year where days have no room; the first alone if nothing fits.
 * @param {string[]} ends
 * @param {(text: string) => boolean} fits
 */
export function endsThatFit(ends, fits) {
  const dated = ends.every((end) => /^\d{4}-\d\d-\d\d$/.test(end));
  const sizes = dated ? [10, 7, 4] : [Infinity]; // characters: day, month, year
  const shown = sizes.map((size) => ends.map((end) => end.slice(0, size)));
  return shown.find((each) => fits(each.join("  "))) ?? [ends[0]];
}

/** Class and outline of each band and curve, from back to front. */
function pathsOf(curves, places) {
  const { edges, x, y } = places;
  const main = curves.at(-1).termFit;
  const estimated = curves.some(({ role }) => role === "effect");
  const estimate = { ends: estimated ? effectEnds(main) : null, kind: "dpx-effect-band" };
  const lines = curves.map(({ role, termFit }) => {
    const own = termFit.edges === null ? edges : termFit.edges;
    const path = stepPath(own, valuesAt(termFit, main), x, y, main.edges === null);
    return [`dpx-curve dpx-curve-${role}`, path];
  });
  return [...bandOf(main, places, estimate), ...bandOf(main, places), ...lines];
}

const frames = new WeakMap(); // what each picture shows apart from its curves

/**
 * Draw curves ([{role, termFit}], the main one last) of a term into a picture of a width. A previous `picture` is
 * returned with new curves if nothing else changed, as is usual between epsilons.
 */
export function drawSmallShape({ term, curves, everyFit, width, font }, picture) {
  const main = curves.at(-1).termFit;
  const axis = niceAxis(smallAxisValues(curves, everyFit), 3);
  const texts = axis.ticks.map((tick) => formatTick(tick, axis.step));
  const left = Math.ceil(Math.max(...texts.map((text) => textWidth(text, LABEL_SIZE, font)))) + 8;
  const right = width - 4;
  const y = linearScale(axis.domain, [SMALL.bottom, SMALL.top]);
  const paths = pathsOf(curves, { ...smallSteps(main, everyFit, left, right), y });
  const ends = axisTexts(term, main);
  const frame = [texts, ends, width, font, paths.map(([kind]) => kind)].join("|");
  if (frames.get(picture) === frame) {
    picture.querySelectorAll("g > path").forEach((path, i) => path.setAttribute("d", paths[i][1]));
    return picture;
  }
  const made = svg("svg", { class: "dpx-svg", width, height: SMALL.height, "aria-hidden": "true" });
  frames.set(made, frame);
  const id = uniqueId("clip");
  const labelled = axis.ticks.map((tick, i) => ({ tick, text: texts[i] }))
    .filter(({ tick }) => [axis.ticks[0], 0, axis.ticks.at(-1)].includes(tick));
  made.append(
    svg("defs", {}, clipRectangle(id, { left, right, top: SMALL.top - 4, bottom: SMALL.bottom + 4 })),
    ...axis.ticks.map((tick) => rule(left, y(tick), right, y(tick), tick === 0 ? "zero" : "grid")),
    ...labelled.map(({ tick, text }) => label(text, left - 5, y(tick) + 4.5, "end")),
    svg("g", { "clip-path": `url(#${id})` }, paths.map(([kind, d]) => svg("path", { d, class: kind }))),
    ...endLabels(ends, left, right, font),
  );
  return made;
}
