// Claims about cells and regions of a pair of features, in words.
import { claimTimes, claimedScore, direction } from "./claim_parts.js";
import { regionLabels, regionsOf } from "./pair_claims.js";
import { formatSigned, quotedName, shortName } from "../../kit/format.js";

/** "age = 30 to 39 and job = nurse". */
function regionWords(termFit, region) {
  const labels = regionLabels(termFit, region);
  return termFit.axes.map(({ name }, k) => `${quotedName(name, 40)} = ${quotedName(labels[k], 40)}`).join(" and ");
}

/** What a claim about a pair says, without where it holds. */
export function claimedPair(state, question, claim) {
  const { payload, fit, termIndex } = state;
  const termFit = fit.terms[termIndex];
  const [first, second] = regionsOf(termFit, question).map((region) => regionWords(termFit, region));
  const names = termFit.axes.map(({ name }) => quotedName(name, 40));
  const unit = payload.score_unit ? ` ${shortName(payload.score_unit, 40)}` : "";
  const other = second === undefined ? "the average record" : `records with ${second}`;
  return `records with ${first} have ${direction(claim.estimate)} ${claimedScore(payload)} than ` +
    `${other}, beyond what ${names[0]} and ${names[1]} add separately: ` +
    `${formatSigned(claim.estimate)}${unit}${claimTimes(payload.link, claim.estimate)}, ` +
    `95% between ${formatSigned(claim.low)} and ${formatSigned(claim.high)}`;
}
