// A range of bins, chosen by dragging or with Shift, and its summary.
import { valueRange } from "../local/contributions.js";
import { spanLabel, valueCount } from "../claim/contrasts.js";
import { formatCount, formatSigned, formatValue, quotedName, shortName } from "../../kit/format.js";
import { binSentence, binTitle } from "../../kit/words.js";
import { commonParts } from "../disagreement/distance.js";

const HINT = "Point, or press arrow keys.";
export const KEYS = "Drag over bins, or hold Shift with the arrow keys, to compare a range with the rest. To compare " +
  "two bins or ranges, Ctrl-click or Ctrl-drag the second, or press c and move on. ";
export const EXTREMES = [["", "how it compares"], ["highest", "where it is highest"], ["lowest", "where it is lowest"]];

/**
 * What a bin or a range can be compared with: options [value, name], and the value of the chosen one.
 * @param {import("../../types").TermFit} termFit
 */
export function comparisons(termFit, range, second) {
  const bins = range === null ? termFit.labels : termFit.labels.slice(0, valueCount(termFit));
  const options = bins.map((name, bin) => [String(bin), shortName(name, 40)]);
  const isSpan = second !== null && second[0] < second[1];
  if (isSpan) options.unshift([String(second), shortName(spanLabel(termFit, second), 40)]);
  const chosen = isSpan ? String(second) : String(second?.[0] ?? "");
  return [[["", range === null ? "no other bin" : "the rest"], ...options], chosen];
}

/** What a chart marks: [first and last bin or null, kind]. */
export function markedSpans({ range, bin, second, hovered }) {
  const one = (each) => (each === null ? null : [each, each]);
  return [[range, "range"], [one(bin), "chosen"], [second, "second"], [one(hovered), "hovered"]];
}

/** Whether a click or a drag selects what the selected bins are compared with. */
export function isSecondPick(event, { binIndex, binRange }) {
  return (event.ctrlKey || event.metaKey) && (binIndex !== null || binRange !== null);
}

/** Ends of a range in order, within the bins of values; null if nothing is left. */
export function orderedRange(one, other, count) {
  const [first, last] = [Math.min(one, other), Math.max(one, other)];
  return first >= count ? null : [first, Math.min(last, count - 1)];
}

function meanOver(termFit, bins, weights) {
  const total = bins.reduce((sum, i) => sum + weights[i], 0);
  return bins.reduce((sum, i) => sum + (total > 0 ? weights[i] / total : 1 / bins.length) * termFit.contribution[i], 0);
}

/**
 * "age: 21 to 45 years", from the start of the first bin to the end of the last bin.
 * @param {import("../../types").TermFit} termFit
 */
export function rangeTitle(term, termFit, [first, last]) {
  const unit = term.unit ? ` ${quotedName(term.unit, 24)}` : "";
  const ends = termFit.edges === null ? null : [termFit.edges[first], termFit.edges[last + 1]];
  const words = ends
    ? `${valueRange(term, { edges: ends }).map((end) => formatValue(term, end)).join(" to ")}${unit}`
    : `${quotedName(termFit.labels[first], 30)} to ${quotedName(termFit.labels[last], 30)}`;
  return `${quotedName(term.name, 48)}: ${words}`;
}

/**
 * Summary of a range of bins; `reference` is the reference term or null.
 * @param {import("../../types").TermFit} termFit
 */
export function rangeSentence(termFit, [first, last], reference, isPrivate) {
  const bins = Array.from({ length: last - first + 1 }, (_, k) => first + k);
  const weights = termFit.count.map((count) => Math.max(0, count));
  const values = bins.map((i) => termFit.contribution[i]);
  const people = bins.reduce((sum, i) => sum + termFit.count[i], 0);
  const parts = [
    `${bins.length} bins, on average ${formatSigned(meanOver(termFit, bins, weights))}`,
    `lowest ${formatSigned(Math.min(...values))}, highest ${formatSigned(Math.max(...values))}`,
    `${isPrivate ? "noisy count" : "count"} ${formatCount(people)}`,
  ];
  if (termFit.signal) parts.push(`${bins.filter((i) => termFit.signal[i]).length} of them signal`);
  if (reference) parts.push(`non-private reference: ${formatSigned(referenceMean(termFit, reference, bins))}`);
  return parts.join(" · ");
}

function referenceMean(termFit, reference, bins) {
  const wanted = new Set(bins);
  const parts = commonParts(termFit, reference).filter(({ bin }) => wanted.has(bin));
  const total = parts.reduce((sum, part) => sum + part.weight, 0);
  return total > 0 ? parts.reduce((sum, part) => sum + part.weight * part.other, 0) / total : NaN;
}

/** Title and sentence about a range or a bin, in place of the chart. */
export function readOut(state, termFit, bin, range) {
  if (range !== null) {
    const reference = state.atReference ? null : state.reference?.terms[state.termIndex] ?? null;
    const words = rangeSentence(termFit, range, reference, state.fit.guarantee.private);
    return [rangeTitle(state.term, termFit, range), words];
  }
  const known = bin !== null && bin < termFit.labels.length;
  return known ? [binTitle(state.term, termFit, bin), binSentence(state, termFit, bin)] : ["", HINT];
}
