// Pictures of filters, described in words.
import { NOISE_BAND, activeFilters, ratioAt, shareOutside, sumsOf } from "./filter_data.js";
import { greyEnds } from "./filter_overlay.js";
import {
  formatDay, formatEpsilon, formatLike, formatNumber, formatShare, formatSigned, quotedName,
} from "../../kit/format.js";

/** "43% of the weights rise above the noise"; empty if the noise is unknown. */
export function shareWords(map, what = "weight") {
  const share = shareOutside(map);
  return share === null ? "" : `${formatNumber(100 * share, 2)}% of the ${what}s rise above the noise`;
}

/** Name of the map drawn for a class, such as "mean filter of “3”". */
export function mapWords({ outline, choice }, k) {
  const name = `“${quotedName(outline.classes[k], 24)}”`;
  const other = `“${quotedName(outline.classes[choice.against], 24)}”`;
  if (choice.kind === "filter") {
    const own = `filter ${choice.m} of ${name}`;
    const { minus } = choice;
    return minus === null || (choice.against === k && minus === choice.m) ? own
      : `${own} against filter ${minus} of ${other}`;
  }
  if (choice.kind !== "contrast" || choice.against === k) return `mean filter of ${name}`;
  return `${name} vs. ${other}`;
}

/** "ε = 0.5" for a column, or words for the reference. */
export function columnWords({ state }, column) {
  const { epsilons } = state.payload;
  return column < epsilons.length ? `ε = ${formatEpsilon(epsilons[column])}` : "non-private";
}

/** The weight of one input, and whether it may be noise. */
export function weightSentence({ outline }, map, i, what = "weight", inputs = null) {
  const ratio = ratioAt(map, i);
  const reading = inputs === null ? "" : ` (${readingWords(outline, inputs, i)})`;
  const name = `${quotedName(outline.input_names[i], 60)}${reading}`;
  const value = `${name}: ${what} ${formatSigned(map.values[i])}`;
  if (ratio === null) return value;
  const size = `${formatNumber(ratio, 2)} standard deviations of privacy noise`;
  const verdict = ratio > NOISE_BAND ? "above noise" : "may be all noise";
  return `${value}, ${size}: ${verdict}`;
}

/** The value of an input in a sample, in the unit of its column if possible. */
export function readingOf({ readings }, inputs, i) {
  const value = inputs[i];
  if (!readings) return formatSigned(value);
  const { kind, unit, centre, step } = readings[i];
  if (kind === "category") return value > 0 ? "yes" : "no";
  const read = centre + step * value;
  if (kind === "date") return formatDay(Math.round(read));
  return unit === "" ? formatNumber(read, 4) : `${formatNumber(read, 4)} ${quotedName(unit, 20)}`;
}

function readingWords(outline, inputs, i) {
  return `${outline.readings ? "" : "input "}${readingOf(outline, inputs, i)}`;
}

/** Round the parts of a sum so that the rounded numbers add up; the part with the largest error changes. */
export function partsInUnits(parts, unit) {
  const exact = parts.map((part) => part / unit);
  const whole = exact.map(Math.round);
  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
  for (let off = Math.round(sum(exact)) - sum(whole); off !== 0; off -= Math.sign(off)) {
    const errors = exact.map((part, i) => (part - whole[i]) * Math.sign(off));
    whole[errors.indexOf(Math.max(...errors))] += Math.sign(off);
  }
  return whole.map((number) => number * unit);
}

/**
 * The exact sum of contributions: `rest` is the bias, `score` the result, and `what` its name.
 * All numbers have the same decimals, so that they add up.
 */
export function additionSentence(map, { rest, score, what }) {
  const sums = sumsOf(map);
  const largest = Math.max(sums.positive, -sums.negative, Math.abs(rest), Math.abs(score), 1e-3);
  const unit = 10 ** Math.min(0, Math.floor(Math.log10(largest)) - 2);
  const [positive, negative, bias] = partsInUnits([sums.positive, sums.negative, rest], unit);
  const like = (value) => `${value > 0 ? "+" : ""}${formatLike(value + 0, largest)}`;
  const stands = sums.standing === null ? ""
    : ` Of this, ${like(sums.standing)} comes from inputs above the noise.`;
  return `${like(positive)} and ${like(negative)} add up to ${like(positive + negative)}; adding the bias, ` +
    `${like(bias)}, gives ${what}: ${like(positive + negative + bias)}.${stands}`;
}

/** The inputs with the largest contributions, for screen readers. */
export function strongestWords({ outline }, { values }) {
  const order = Array.from(values, (_, i) => i).sort((a, b) => values[b] - values[a]);
  const listed = (places) => places
    .map((i) => `${quotedName(outline.input_names[i], 60)} ${formatSigned(values[i], 2)}`).join(", ");
  const ends = [
    ["most in favor", order.slice(0, 3).filter((i) => values[i] > 0)],
    ["most against", order.slice(-3).reverse().filter((i) => values[i] < 0)],
  ];
  return ends.filter(([, places]) => places.length > 0)
    .map(([name, places]) => `${name}: ${listed(places)}`).join("; ");
}

/** How the sample and its contributions are overlaid. */
export function layerWords(opacity) {
  if (opacity === 0) return "sample alone";
  return opacity === 1 ? "contributions alone" : "contributions over the sample";
}

/** Legend of the colors in the pictures of a sample. */
export function sampleScaleWords({ inputs, limit, opacity, masked }) {
  const [low, high] = greyEnds(inputs).map((each) => formatSigned(each, 2));
  const greys = `inputs from ${low} to ${high} in gray`;
  const end = formatNumber(limit, 2);
  const colours = `contributions from −${end} (gold) to +${end} (blue) log-odds`;
  const hidden = opacity === 1 ? "gray" : "without color";
  const mask = masked ? `; ${hidden}: inside ${NOISE_BAND} standard deviations of privacy noise` : "";
  if (opacity === 0) return `Scale: ${greys}.`;
  return opacity === 1 ? `Scale: ${colours}${mask}.` : `Scale: ${colours}, ${greys}${mask}.`;
}

/** Legend of the colors or bars of a scale. */
export function scaleWords({ limit, outline, masked }) {
  const [mark, hidden] = outline.grid_shape === null ? ["bars", "pale"] : ["pixels", "gray"];
  const ends = `−${formatNumber(limit, 2)} (gold) to +${formatNumber(limit, 2)} (blue) log-odds per unit of input`;
  const mask = masked ? `; ${hidden} ${mark}: inside ${NOISE_BAND} standard deviations of privacy noise` : "";
  return `Scale: ${ends}${mask}.`;
}

/** The prediction of a sample and its filters, in a sentence. */
export function sampleSentence({ outline }, sample, ranked, shares) {
  const top = shares.indexOf(Math.max(...shares));
  const [first, second] = ranked;
  const name = (k) => `“${quotedName(outline.classes[k], 24)}”`;
  const share = (k) => formatShare(sample.probabilities[k]);
  const certainty = sample.leadCertainty >= 0.999 ? "more than 99.9" : formatNumber(100 * sample.leadCertainty, 3);
  const sure = sample.leadCertainty === null ? "" : `; ${certainty}% certain to lead, given the privacy noise`;
  return (
    `Predicted ${name(first)} (${share(first)}); runner-up ${name(second)} (${share(second)})${sure}. ` +
    `About ${formatNumber(activeFilters(shares), 2)} of ${outline.n_filters} filters of the class are active, ` +
    `the largest, #${top}, with a share of ${formatNumber(100 * shares[top], 2)}%.`
  );
}
