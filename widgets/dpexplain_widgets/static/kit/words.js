// Descriptions of charts in words.
import { effectEnds, shownLayer } from "../charts/curves.js";
import {
  aboveRounding, formatBound, formatCount, formatDelta, formatEpsilon, formatNumber, formatSigned,
  quotedName,
} from "./format.js";

const CHANGES = { add_remove: "Adding or removing", replace: "Replacing" };
const ADJACENCIES = { add_remove: "add/remove adjacency", replace: "replace-one adjacency" };

/** Name of the sum of the curves; for trees this is not the model's prediction. */
export function predictionName({ link, target, main_effects_only: isPart }) {
  const likely = target.by_class ? target.shown_class : target.classes?.at(-1);
  const share = link === "logit" || target.by_class;
  const name = share ? `Probability of “${quotedName(likely, 24)}”` : "Prediction";
  return isPart ? `${name} from curves only, without the model's interactions` : name;
}

/** The two numbers of a guarantee: "δ = 10⁻⁶ · add/remove adjacency". */
export function guaranteeDetail(guarantee) {
  if (!guarantee.private) return "no differential privacy";
  return `δ = ${formatDelta(guarantee.delta)} · ${ADJACENCIES[guarantee.adjacency]}`;
}

/** The guarantee for one person, in a sentence. */
export function guaranteeSentence(guarantee) {
  if (!guarantee.private) {
    return "Nothing bounds what these curves reveal about a single record. Do not share them.";
  }
  const factor = formatBound(Math.exp(guarantee.epsilon), 3);
  const margin = guarantee.delta > 0 ? `, plus ${formatDelta(guarantee.delta)}` : "";
  const unit = guarantee.unit.includes(", of whom") ? `${guarantee.unit},` : guarantee.unit;
  return (
    `${CHANGES[guarantee.adjacency]} ${unit} changes the probability of any result ` +
    `by at most a factor of ${factor}${margin}.`
  );
}

/**
 * The score in words, using the name of the target.
 * @param {import("../types").Payload} payload
 */
export function scoreWords(payload) {
  const target = payload.target;
  if (payload.link === "softmax") {
    return `log-odds of “${quotedName(target.shown_class, 24)}” against the average class`;
  }
  if (payload.link === "log") return quotedName(payload.score_unit, 48);
  if (payload.link !== "logit") {
    const unit = target.unit ? ` (${quotedName(target.unit, 24)})` : "";
    return `${quotedName(target.name || "the prediction", 24)}${unit}`;
  }
  const positive = target.classes?.at(-1);
  return positive === undefined ? "log-odds" : `log-odds of “${quotedName(positive, 24)}”`;
}

/** The title of an axis of scores; where it does not fit, it leaves out what log-odds of a class are compared with. */
export function scoreAxisTitle(payload, fits) {
  const whole = `adds to ${scoreWords(payload)}`;
  return fits(whole) ? whole : whole.replace(/ against the average class$/, "");
}

/** Explanation of the bands, shown on request. */
export const BAND_MEANING =
  "The wide band shows total uncertainty: privacy noise, random bins and trees, and the sampling of " +
  "records. Where it is known jointly for all bins, the whole curve lies inside with 95% confidence, and " +
  "a bin is signal where the band excludes zero. The dark band is privacy noise alone, two standard " +
  "deviations of it: what privacy adds. Both are computed from released numbers, so they cost no " +
  "privacy. Feature correlations are estimated from these numbers: nearly collinear terms can vary a " +
  "little more than the band shows.";

/** Explanation of the effect band, shown on request. */
export const EFFECT_MEANING =
  " These bands answer: what is noise? The dashed line answers: what holds in the population? A private fit " +
  "stops early, so its curves understate effects; the dashed line estimates them from released numbers alone, and " +
  "the whole true curve lies inside its light band with 95% confidence. Ranks and directions are based " +
  "on the estimate; hatching and “signal” on noise.";

/**
 * Estimated effect of a bin, in words; "" if unknown.
 * @param {import("../types").TermFit} termFit
 */
export function estimateWords(termFit, bin) {
  const ends = effectEnds(termFit)?.[bin];
  if (!ends) return "";
  const [low, high] = ends;
  const verdict = termFit.effect_signal?.[bin] ? "an effect is certain" : "there may be no effect";
  const band = `${formatSigned(low)} to ${formatSigned(high)}`;
  return `estimated effect in the population ${formatSigned(termFit.effect[bin])} (95% band ${band}: ${verdict})`;
}

/**
 * Whether the band of a bin covers zero ("inside": may be noise); null if unknown.
 * @param {import("../types").TermFit} termFit
 */
export function noiseVerdict(termFit, bin) {
  const mark = termFit.signal?.[bin];
  if (mark === null || mark === undefined) return null;
  return mark ? "outside" : "inside";
}

/**
 * Number of bins of a term that may be noise; null if unknown.
 * @param {import("../types").TermFit} termFit
 */
export function binsInsideNoise(termFit) {
  if (!termFit.signal) return null;
  return termFit.signal.filter((mark) => !mark).length;
}

function contributionWords(payload, value) {
  if (payload.link === "softmax") {
    return `contribution ${formatSigned(value)} (× ${formatNumber(Math.exp(value))} against the average class)`;
  }
  if (payload.link === "log") {
    return `contribution ${formatSigned(value)} (expectation × ${formatNumber(Math.exp(value))})`;
  }
  if (payload.link !== "logit") {
    const unit = payload.target.unit ? ` ${payload.target.unit}` : "";
    return `contribution ${formatSigned(value)}${unit}`;
  }
  return `contribution ${formatSigned(value)} (odds × ${formatNumber(Math.exp(value))})`;
}

const CAUSES = [["noise_std", "privacy"], ["structure_std", "bins and trees"], ["sampling_std", "sampling"]];

/** Below this share of the strongest term, a contribution is close to average. */
const CLOSE = 0.5;

/**
 * What a band that covers zero leaves open: "close" if even its ends are small next to the strongest
 * term, "unknown" if a large contribution is possible; null if the bin is signal or has no band.
 * @param {import("../types").Fit} fit
 * @param {import("../types").TermFit} termFit
 * @returns {"close" | "unknown" | null}
 */
function opennessOf(fit, termFit, bin) {
  if (noiseVerdict(termFit, bin) !== "inside") return null;
  const farthest = Math.abs(termFit.contribution[bin]) + termFit.band_factor * termFit.total_std[bin];
  const strongest = Math.max(...fit.terms.map((term) => term.importance));
  return farthest <= CLOSE * strongest ? "close" : "unknown";
}

function verdictWords(fit, termFit, bin) {
  const verdict = noiseVerdict(termFit, bin);
  if (verdict === null) return "";
  const half = termFit.band_factor * termFit.total_std[bin];
  const band = `the noise band of ±${formatNumber(half, 2)}`;
  if (verdict === "outside") return `, outside ${band}: signal`;
  const [low, high] = [-half, half].map((way) => formatSigned(termFit.contribution[bin] + way, 2));
  const open = opennessOf(fit, termFit, bin) === "close" ? "; close to average" : " or large";
  return `, inside ${band}: may be all noise${open}, between ${low} and ${high}`;
}

/**
 * "age 30 – 35 years".
 * @param {import("../types").TermFit} termFit
 */
export function binTitle(term, termFit, bin) {
  const label = quotedName(termFit.labels[bin], 48);
  const special = bin >= termFit.labels.length - termFit.special.length;
  const unit = term.unit && !special ? ` ${quotedName(term.unit, 24)}` : "";
  return `${quotedName(term.name, 48)}: ${label}${unit}`;
}

/**
 * Contribution of another fit in the bin with this label; null if its bins differ.
 * @param {import("../types").Fit} fit
 * @param {import("../types").State} state
 */
export function contributionOf(fit, state, label) {
  if (fit === null || fit.terms[state.termIndex].absent) return null;
  const { labels, contribution } = fit.terms[state.termIndex];
  return contribution[labels.indexOf(label)] ?? null;
}

/**
 * Description of one bin.
 * @param {import("../types").State} state
 * @param {import("../types").TermFit} termFit
 */
export function binSentence(state, termFit, bin) {
  const value = aboveRounding(termFit.contribution[bin], termFit.total_std?.[bin] ?? 0);
  const kind = state.fit.guarantee.private ? "noisy count" : "count";
  const negative = Math.round(termFit.count[bin]) < 0 ? " (noise can make it negative)" : "";
  const parts = [
    `${contributionWords(state.payload, value)}${verdictWords(state.fit, termFit, bin)}`,
    `${kind} ${formatCount(termFit.count[bin])}${negative}`,
  ];
  const estimate = shownLayer(state, termFit) === "released" ? "" : estimateWords(termFit, bin);
  if (estimate) parts.splice(1, 0, estimate);
  const label = termFit.labels[bin];
  const pinned = contributionOf(state.pinned, state, label);
  if (pinned !== null) {
    const epsilon = formatEpsilon(state.payload.epsilons[state.pinnedStop]);
    parts.push(`pinned ε = ${epsilon}: ${formatSigned(pinned)}`);
  }
  const other = contributionOf(state.other ?? null, state, label);
  if (other !== null) parts.push(`${otherWords(state)}: ${formatSigned(other)}`);
  const reference = state.atReference ? null : contributionOf(state.reference, state, label);
  if (reference !== null) parts.push(`non-private reference: ${formatSigned(reference)}`);
  return parts.join(" · ");
}

/**
 * Description of a chart, for screen readers.
 * @param {import("../types").State} state
 * @param {import("../types").TermFit} termFit
 */
export function shapeSummary(state, termFit) {
  const inside = binsInsideNoise(termFit);
  const total = termFit.contribution.length;
  const band = inside === null ? "no noise band" : `${inside} of ${total} may be noise`;
  const estimate = "the estimated effect in the population";
  const drawn = { both: `, with ${estimate}`, effect: `, ${estimate} alone` }[shownLayer(state, termFit)] ?? "";
  return `Shape of ${quotedName(state.term.name)}, ${fitWords(state)}: ${total} bins, ${band}${drawn}`;
}

/** "1–3": rank interval of a term. */
export function placeWords([low, high]) {
  return low === high ? `${low}` : `${low}–${high}`;
}

/** Noise of a term, for screen readers. */
export function spokenNoise(termFit) {
  const { above_noise: above, ranks, absent } = termFit;
  if (absent) return ", not in this model";
  const mark = above ? "rises above the noise" : "does not rise above the noise";
  if (!ranks) return typeof above === "boolean" ? `, ${mark}` : "";
  const size = spokenSize(termFit);
  const basis = size ? " by the effect in the population" : "";
  return `, rank ${placeWords(ranks)} with 95% confidence${basis}, ${mark}${size}`;
}

function spokenSize({ effect_size: size, has_effect: certain }) {
  return size ? `, effect in the population ${formatNumber(size)}, ${certain ? "certain" : "not certain"}` : "";
}

/**
 * "ε = 0.5" for the selected fit.
 * @param {import("../types").State} state
 */
export function epsilonWords(state) {
  const epsilon = state.payload.epsilons[state.stop];
  return `ε = ${formatEpsilon(epsilon)}`;
}

/**
 * "ε = 0.5", "non-private reference" next to private fits, or "non-private model" without them.
 * @param {import("../types").State} state
 */
export function fitWords(state) {
  if (!state.atReference) return epsilonWords(state);
  return `non-private ${state.payload.epsilons.length > 0 ? "reference" : "model"}`;
}

/**
 * "at ε = 0.5" or "in the non-private model".
 * @param {import("../types").State} state
 */
export function atFitWords(state) {
  return `${state.atReference ? "in the" : "at"} ${fitWords(state)}`;
}

/**
 * The model or class drawn for comparison, and its epsilon.
 * @param {import("../types").State} state
 */
export function otherWords(state) {
  const name = `${state.payload.target.by_class ? "class " : ""}${quotedName(state.otherName, 40)}`;
  if (state.otherStop < 0) return `${name}, not private, not releasable`;
  return `${name}, ε = ${formatEpsilon(state.otherEpsilon)}`;
}

/**
 * Shares of the variance of a curve by source, weighted by its counts: [[name, share]]; empty unless
 * there are several.
 * @param {import("../types").TermFit} termFit
 * @returns {[string, number][]}
 */
export function causeShares(termFit) {
  const known = CAUSES.filter(([key]) => termFit[key]);
  if (known.length < 2) return [];
  const people = termFit.count.map((count) => Math.max(0, count));
  const sums = known.map(([key]) => people.reduce((sum, weight, i) => sum + weight * termFit[key][i] ** 2, 0));
  const total = sums.reduce((sum, each) => sum + each, 0);
  return total > 0 ? known.map(([, name], k) => [name, sums[k] / total]) : [];
}
