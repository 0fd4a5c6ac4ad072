// A small chart of one term, for a grid of many.
import { crowdsTheAxis, splitSpecial, valuePosition } from "../../charts/bins.js";
import { valueRange } from "../local/contributions.js";
import { effectEnds, noiseEnds } from "../../charts/curves.js";
import { svg } from "../../kit/dom.js";
import { formatTick, formatValue } from "../../kit/format.js";
import { clipRectangle, label, LABEL_SIZE, rule } from "../../charts/marks.js";
import { bandPath, stepPath } from "../../charts/path.js";
import { linearScale, niceAxis } from "../../charts/scale.js";
import { textWidth } from "../../kit/text.js";

const SMALL = { height: 122, top: 8, bottom: 96, foot: 115 };

/** Values on the axis of a small chart: all epsilons, limited bands, and no spikes of the reference. */
export function smallAxisValues(curves, everyFit) {
  const ordinary = (termFit) => splitSpecial(termFit, termFit.contribution).ordinary;
  const main = curves.at(-1).termFit;
  const isLimited = ({ role, termFit }) => role === "reference" && termFit !== main;
  const own = curves.filter((each) => !isLimited(each)).map(({ termFit }) => termFit);
  const values = [...own, ...everyFit].flatMap(ordinary);
  const reach = Math.max(...values.map(Math.abs), 1e-9) * 1.4;
  const ends = noiseEnds(main);
  const limited = [
    ...(ends === null ? [] : splitSpecial(main, ends).ordinary.flat()),
    ...curves.filter(isLimited).flatMap(({ termFit }) => ordinary(termFit)),
  ];
  return [...values, ...limited.map((end) => Math.max(-reach, Math.min(reach, end)))];
}

function smallSteps(termFit, left, right) {
  if (termFit.edges === null) {
    const count = Math.max(1, termFit.labels.length - termFit.special.length);
    const edges = Array.from({ length: count + 1 }, (_, i) => i);
    return { edges, x: linearScale([0, count], [left, right]) };
  }
  const even = crowdsTheAxis(termFit.edges, right - left);
  return { edges: termFit.edges, x: valuePosition(termFit.edges, even, left, right) };
}

// Categories of another fit are placed where the main fit has them.
function valuesAt(termFit, main) {
  if (main.edges !== null) return splitSpecial(termFit, termFit.contribution).ordinary;
  const labels = splitSpecial(main, main.labels).ordinary;
  return labels.map((name) => termFit.contribution[termFit.labels.indexOf(name)] ?? 0);
}

function bandOf(main, edges, x, y, { ends = noiseEnds(main), kind = "dpx-band" } = {}) {
  if (ends === null) return null;
  const on = splitSpecial(main, ends).ordinary;
  const [low, high] = [0, 1].map((end) => on.map((pair) => pair[end]));
  return svg("path", { d: bandPath(edges, low, high, x, y), class: kind });
}

/** The first and the last value of an axis, formatted. */
export function endTexts(term, edges) {
  return valueRange(term, { edges }).map((end) => formatValue(term, end));
}

/** Both ends of the axis, or the number of categories. */
function endLabels(term, { edges, labels, special }, left, right, font) {
  if (edges === null) {
    return [label(`${labels.length - special.length} categories`, (left + right) / 2, SMALL.foot)];
  }
  const [low, high] = endTexts(term, edges);
  const fits = textWidth(`${low}  ${high}`, LABEL_SIZE, font) < right - left;
  return [label(low, left, SMALL.foot, "start"), ...(fits ? [label(high, right, SMALL.foot, "end")] : [])];
}

/** Draw curves ([{role, termFit}], the main one last) of a term into a picture of a width. */
export function drawSmallShape({ term, curves, everyFit, width, font, id }) {
  const main = curves.at(-1).termFit;
  const axis = niceAxis(smallAxisValues(curves, everyFit), 3);
  const texts = axis.ticks.map((tick) => formatTick(tick, axis.step));
  const left = Math.ceil(Math.max(...texts.map((text) => textWidth(text, LABEL_SIZE, font)))) + 8;
  const right = width - 4;
  const y = linearScale(axis.domain, [SMALL.bottom, SMALL.top]);
  const picture = svg("svg", { class: "dpx-svg", width, height: SMALL.height, "aria-hidden": "true" });
  const frame = { left, right, top: SMALL.top - 4, bottom: SMALL.bottom + 4 };
  const group = svg("g", { "clip-path": `url(#${id})` });
  const { edges, x } = smallSteps(main, left, right);
  const lines = curves.map(({ role, termFit }) => {
    const own = termFit.edges === null ? edges : termFit.edges;
    const at = valuesAt(termFit, main);
    return svg("path", { d: stepPath(own, at, x, y, main.edges === null), class: `dpx-curve dpx-curve-${role}` });
  });
  const estimated = curves.some(({ role }) => role === "effect");
  const estimate = { ends: estimated ? effectEnds(main) : null, kind: "dpx-effect-band" };
  group.append(...[bandOf(main, edges, x, y, estimate), bandOf(main, edges, x, y)].filter(Boolean), ...lines);
  const labelled = axis.ticks.map((tick, i) => ({ tick, text: texts[i] }))
    .filter(({ tick }) => [axis.ticks[0], 0, axis.ticks.at(-1)].includes(tick));
  picture.append(
    svg("defs", {}, clipRectangle(id, frame)),
    ...axis.ticks.map((tick) => rule(left, y(tick), right, y(tick), tick === 0 ? "zero" : "grid")),
    ...labelled.map(({ tick, text }) => label(text, left - 5, y(tick) + 4.5, "end")),
    group,
    ...endLabels(term, main, left, right, font),
  );
  return picture;
}
