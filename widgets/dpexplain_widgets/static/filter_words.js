// What pictures of filters say, in words.
import { NOISE_BAND, ratioAt, shareOutside } from "./filter_data.js";
import { formatEpsilon, formatNumber, formatSigned, quotedName } from "./format.js";

/** "43 % of the weights stand out of the noise"; empty where the noise is not known. */
export function shareWords(map) {
  const share = shareOutside(map);
  return share === null ? "" : `${formatNumber(100 * share, 2)} % of the weights stand out of the noise`;
}

/** What is drawn of a class, such as "mean filter of “3”". */
export function mapWords({ outline, choice }, k) {
  const name = `“${quotedName(outline.classes[k], 24)}”`;
  if (choice.kind === "filter") return `filter ${choice.m} of ${name}`;
  if (choice.kind !== "contrast" || choice.against === k) return `mean filter of ${name}`;
  return `${name} against “${quotedName(outline.classes[choice.against], 24)}”`;
}

/** "ε = 0.5" of a column, or that it is the reference. */
export function columnWords({ state }, column) {
  const { epsilons } = state.payload;
  return column < epsilons.length ? `ε = ${formatEpsilon(epsilons[column])}` : "non-private";
}

/** What one input weighs, and whether that may be noise. */
export function weightSentence({ outline }, map, i, what = "weight") {
  const ratio = ratioAt(map, i);
  const name = quotedName(outline.input_names[i], 60);
  const value = `${name}: ${what} ${formatSigned(map.values[i])}`;
  if (ratio === null) return value;
  const size = `${formatNumber(ratio, 2)} standard deviations of the privacy noise`;
  const verdict = ratio > NOISE_BAND ? "stands out" : "may be nothing but noise";
  return `${value}, ${size}: ${verdict}`;
}

/** What the colours or bars of a scale mean. */
export function scaleWords({ limit, outline, masked }) {
  const [mark, hidden] = outline.grid_shape === null ? ["bars", "pale"] : ["pixels", "grey"];
  const ends = `−${formatNumber(limit, 2)} (orange) to +${formatNumber(limit, 2)} (blue) log-odds per unit of input`;
  const mask = masked ? `; ${hidden} ${mark}: inside ${NOISE_BAND} standard deviations of the privacy noise` : "";
  return `Scale: ${ends}${mask}.`;
}

/** Why a sample gets its class, in a sentence. */
export function sampleSentence({ outline }, sample, ranked, active, top) {
  const [first, second] = ranked;
  const name = (k) => `“${quotedName(outline.classes[k], 24)}”`;
  const share = (k) => `${formatNumber(100 * sample.probabilities[k], 3)} %`;
  const certainty = sample.leadCertainty >= 0.999 ? "more than 99.9" : formatNumber(100 * sample.leadCertainty, 3);
  const sure = sample.leadCertainty === null ? "" : `; under the privacy noise it leads with ${certainty} % certainty`;
  return (
    `Predicted ${name(first)} with ${share(first)}, before ${name(second)} with ${share(second)}${sure}. ` +
    `About ${formatNumber(active, 2)} of ${outline.n_filters} filters of the class at work, the largest with ` +
    `a share of ${formatNumber(100 * top, 2)} %.`
  );
}
