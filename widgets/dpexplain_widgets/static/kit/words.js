// What the pictures say, in words.
import { effectEnds, shownLayer } from "../charts/curves.js";
import { formatCount, formatDelta, formatEpsilon, formatNumber, formatSigned, quotedName } from "./format.js";

const CHANGES = { add_remove: "Adding or removing", replace: "Replacing" };
const ADJACENCIES = { add_remove: "add/remove adjacency", replace: "replace-one adjacency" };

/** What the sum of the curves is called; of trees it is not what the model predicts. */
export function predictionName({ link, target, main_effects_only: isPart }) {
  const name = link === "logit" ? `Probability of “${quotedName(target.classes.at(-1), 24)}”` : "Prediction";
  return isPart ? `${name} by the curves alone, without the interactions of the model` : name;
}

/** The two numbers of a guarantee: "δ = 10⁻⁶ · add/remove adjacency". */
export function guaranteeDetail(guarantee) {
  if (!guarantee.private) return "no differential privacy";
  return `δ = ${formatDelta(guarantee.delta)} · ${ADJACENCIES[guarantee.adjacency]}`;
}

/** What a guarantee promises to one person. */
export function guaranteeSentence(guarantee) {
  if (!guarantee.private) {
    return "Nothing bounds what these curves reveal about a single record. Keep them inside.";
  }
  const factor = formatNumber(Math.exp(guarantee.epsilon), 3);
  const margin = guarantee.delta > 0 ? `, plus ${formatDelta(guarantee.delta)}` : "";
  return (
    `${CHANGES[guarantee.adjacency]} ${guarantee.unit} changes the probability of any result ` +
    `by at most a factor of ${factor}${margin}.`
  );
}

/**
 * What the model predicts with a score, in the words of the target.
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

/** What the bands show, in words for a reader who asks. */
export const BAND_MEANING =
  "The wide band adds up three causes: privacy noise, other random bins and trees, and that the " +
  "records are a sample of people. Where it is known jointly for all bins, the whole curve lies " +
  "inside with 95 % certainty, and a bin is signal where the band leaves out zero. The dark band is " +
  "privacy noise alone, two standard deviations of it: what privacy adds. Both are computed from " +
  "released numbers, so they cost no privacy. How features go together is drawn from what these numbers " +
  "say about it: terms that all but determine each other can scatter a little more.";

/** What the estimate answers, in words for a reader who asks. */
export const EFFECT_MEANING =
  " Another question is what is true of people. A private fit stops early, so its curves fall short of the " +
  "effects; the estimate (dashed) is what the fit would have come to, computed from released numbers alone. " +
  "With 95 % certainty the whole true curve lies inside its light band. What is said about people, places and " +
  "directions rests on it; hatching and “signal” speak of noise.";

/**
 * The estimate of the effect in a bin, in words; "" without one.
 * @param {import("../types").TermFit} termFit
 */
export function estimateWords(termFit, bin) {
  const ends = effectEnds(termFit)?.[bin];
  if (!ends) return "";
  const [low, high] = ends;
  const verdict = termFit.effect_signal?.[bin] ? "an effect is certain" : "there may be no effect";
  const band = `${formatSigned(low)} to ${formatSigned(high)}`;
  return `estimate of the effect on people ${formatSigned(termFit.effect[bin])} (95 % band ${band}: ${verdict})`;
}

/**
 * Whether the band of a bin covers zero ("inside": may be noise); null without a band.
 * @param {import("../types").TermFit} termFit
 */
export function noiseVerdict(termFit, bin) {
  const mark = termFit.signal?.[bin];
  if (mark === null || mark === undefined) return null;
  return mark ? "outside" : "inside";
}

/**
 * How many bins of a term may be noise; null without a band.
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

function verdictWords(termFit, bin) {
  const verdict = noiseVerdict(termFit, bin);
  if (verdict === null) return "";
  const half = termFit.band_factor * termFit.total_std[bin];
  const causes = CAUSES.filter(([key]) => termFit[key]).map(
    ([key, name]) => `${name} ${formatNumber(termFit[key][bin], 2)}`,
  );
  const band = `noise band of ±${formatNumber(half, 2)} (standard deviations: ${causes.join(", ")})`;
  return verdict === "inside" ? `, inside the ${band}: may be nothing but noise` : `, outside the ${band}: signal`;
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
 * Contribution of another fit in the bin of that label; null where its bins are others.
 * @param {import("../types").Fit} fit
 * @param {import("../types").State} state
 */
export function contributionOf(fit, state, label) {
  if (fit === null) return null;
  const { labels, contribution } = fit.terms[state.termIndex];
  return contribution[labels.indexOf(label)] ?? null;
}

/**
 * The read-out of one bin.
 * @param {import("../types").State} state
 * @param {import("../types").TermFit} termFit
 */
export function binSentence(state, termFit, bin) {
  const value = termFit.contribution[bin];
  const kind = state.fit.guarantee.private ? "noisy count" : "count";
  const negative = Math.round(termFit.count[bin]) < 0 ? " (noise can make it negative)" : "";
  const parts = [
    `${contributionWords(state.payload, value)}${verdictWords(termFit, bin)}`,
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
 * What a chart shows, for readers who do not see it.
 * @param {import("../types").State} state
 * @param {import("../types").TermFit} termFit
 */
export function shapeSummary(state, termFit) {
  const inside = binsInsideNoise(termFit);
  const total = termFit.contribution.length;
  const band = inside === null ? "no noise band" : `${inside} of ${total} may be noise`;
  const epsilon = state.atReference ? "non-private reference" : epsilonWords(state);
  const estimate = "the estimate of the effect on people";
  const drawn = { both: `, with ${estimate}`, effect: `, ${estimate} alone` }[shownLayer(state, termFit)] ?? "";
  return `Shape of ${quotedName(state.term.name)}, ${epsilon}: ${total} bins, ${band}${drawn}`;
}

/** "1–3": places that a term can have. */
export function placeWords([low, high]) {
  return low === high ? `${low}` : `${low}–${high}`;
}

/** What a reader hears of the noise of a term. */
export function spokenNoise(termFit) {
  const { above_noise: above, ranks } = termFit;
  if (!ranks) return "";
  const size = spokenSize(termFit);
  const mark = above ? "stands out of the noise" : "does not stand out of the noise";
  return `, place ${placeWords(ranks)} with 95 % certainty${size ? " by the effect on people" : ""}, ${mark}${size}`;
}

function spokenSize({ effect_size: size, has_effect: certain }) {
  return size ? `, effect on people ${formatNumber(size)}, ${certain ? "certain" : "not certain"}` : "";
}

/**
 * "ε = 0.5" of the stop that is chosen.
 * @param {import("../types").State} state
 */
export function epsilonWords(state) {
  const epsilon = state.payload.epsilons[state.stop];
  return `ε = ${formatEpsilon(epsilon)}`;
}

/**
 * The other model that is drawn, with its epsilon.
 * @param {import("../types").State} state
 */
export function otherWords(state) {
  const name = quotedName(state.otherName, 40);
  if (state.otherStop < 0) return `${name}, not private, not releasable`;
  return `${name}, ε = ${formatEpsilon(state.otherEpsilon)}`;
}

/**
 * What the variance of a curve is made of, weighted by its people; "" without several causes.
 * @param {import("../types").TermFit} termFit
 */
export function causeWords(termFit) {
  const known = CAUSES.filter(([key]) => termFit[key]);
  if (known.length < 2) return "";
  const people = termFit.count.map((count) => Math.max(0, count));
  const sums = known.map(([key]) => people.reduce((sum, weight, i) => sum + weight * termFit[key][i] ** 2, 0));
  const total = sums.reduce((sum, each) => sum + each, 0);
  if (!(total > 0)) return "";
  const shares = known.map(([, name], k) => `${name} ${formatNumber((100 * sums[k]) / total, 2)} %`);
  return ` Of the variance of this curve, averaged over the people: ${shares.join(", ")}.`;
}
