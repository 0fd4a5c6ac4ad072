// What the pictures say, in words.
import { formatCount, formatDelta, formatEpsilon, formatNumber, formatSigned, quotedName } from "./format.js";

const CHANGES = { add_remove: "Adding or removing", replace: "Replacing" };
const ADJACENCIES = { add_remove: "add/remove adjacency", replace: "replace-one adjacency" };

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

/** What the model predicts with a score, in the words of the target. */
export function scoreWords(payload) {
  const target = payload.target;
  if (payload.link === "log") return quotedName(payload.score_unit, 48);
  if (payload.link !== "logit") {
    const unit = target.unit ? ` (${quotedName(target.unit, 24)})` : "";
    return `${quotedName(target.name || "the prediction", 24)}${unit}`;
  }
  const positive = target.classes?.at(-1);
  return positive === undefined ? "log-odds" : `log-odds of “${quotedName(positive, 24)}”`;
}

/** What the band does not show, in words for a reader who asks. */
export const BAND_LIMITS =
  "The band shows the noise that was added to the sums behind each contribution, with the released " +
  "bins and trees as they are. Other noise in the histograms, or other random trees, would have " +
  "given other bins and curves; the band leaves that out.";

/** On which side of its noise band a contribution lies; null without a band. */
export function noiseVerdict(contribution, noiseStd) {
  if (noiseStd === null || noiseStd === undefined) return null;
  return Math.abs(contribution) < 2 * noiseStd ? "inside" : "outside";
}

/** How many bins of a term lie inside the band; null without a band. */
export function binsInsideNoise(termFit) {
  if (termFit.noise_std === null) return null;
  const inside = termFit.contribution.filter(
    (value, i) => noiseVerdict(value, termFit.noise_std[i]) === "inside",
  );
  return inside.length;
}

function contributionWords(payload, value) {
  if (payload.link === "log") {
    return `contribution ${formatSigned(value)} (expectation × ${formatNumber(Math.exp(value))})`;
  }
  if (payload.link !== "logit") {
    const unit = payload.target.unit ? ` ${payload.target.unit}` : "";
    return `contribution ${formatSigned(value)}${unit}`;
  }
  return `contribution ${formatSigned(value)} (odds × ${formatNumber(Math.exp(value))})`;
}

function verdictWords(value, noiseStd) {
  const verdict = noiseVerdict(value, noiseStd);
  if (verdict === null) return "";
  const band = `noise band of ±${formatNumber(2 * noiseStd, 2)} (2 standard deviations of DP noise)`;
  return verdict === "inside" ? `, inside the ${band}: may be nothing but noise` : `, outside the ${band}`;
}

/** "age 30 – 35 years". */
export function binTitle(term, termFit, bin) {
  const label = quotedName(termFit.labels[bin], 48);
  const special = bin >= termFit.labels.length - termFit.special.length;
  const unit = term.unit && !special ? ` ${quotedName(term.unit, 24)}` : "";
  return `${quotedName(term.name, 48)}: ${label}${unit}`;
}

/** Contribution of another fit in the bin of that label; null where its bins are others. */
export function contributionOf(fit, state, label) {
  if (fit === null) return null;
  const { labels, contribution } = fit.terms[state.termIndex];
  return contribution[labels.indexOf(label)] ?? null;
}

/** The read-out of one bin. */
export function binSentence(state, termFit, bin) {
  const value = termFit.contribution[bin];
  const noiseStd = termFit.noise_std?.[bin] ?? null;
  const kind = state.fit.guarantee.private ? "noisy count" : "count";
  const negative = Math.round(termFit.count[bin]) < 0 ? " (noise can make it negative)" : "";
  const parts = [
    `${contributionWords(state.payload, value)}${verdictWords(value, noiseStd)}`,
    `${kind} ${formatCount(termFit.count[bin])}${negative}`,
  ];
  const label = termFit.labels[bin];
  const pinned = contributionOf(state.pinned, state, label);
  if (pinned !== null) {
    const epsilon = formatEpsilon(state.payload.epsilons[state.pinnedStop]);
    parts.push(`pinned ε = ${epsilon}: ${formatSigned(pinned)}`);
  }
  const reference = state.atReference ? null : contributionOf(state.reference, state, label);
  if (reference !== null) parts.push(`non-private reference: ${formatSigned(reference)}`);
  return parts.join(" · ");
}

/** What a chart shows, for readers who do not see it. */
export function shapeSummary(state, termFit) {
  const inside = binsInsideNoise(termFit);
  const total = termFit.contribution.length;
  const band = inside === null ? "no noise band" : `${inside} of ${total} inside the noise band`;
  const epsilon = state.atReference ? "non-private reference" : epsilonWords(state);
  return `Shape of ${quotedName(state.term.name)}, ${epsilon}: ${total} bins, ${band}`;
}

/** "ε = 0.5" of the stop that is chosen. */
export function epsilonWords(state) {
  const epsilon = state.payload.epsilons[state.stop];
  return `ε = ${formatEpsilon(epsilon)}`;
}
