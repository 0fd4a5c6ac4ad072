// Words that claims about bins, ranges and pairs share: what is predicted, and by how much it differs.
import { formatNumber, quotedName } from "../../kit/format.js";

/** The class that is predicted, such as "affairs = yes". */
export function claimedClass({ link, target }) {
  const shown = link === "softmax" ? target.shown_class : target.classes?.at(-1);
  return shown === undefined ? null : `${quotedName(target.name, 40)} = ${quotedName(shown, 40)}`;
}

/** What is higher or lower, in the unit of the score. */
export function claimedScore(payload) {
  const about = claimedClass(payload);
  if (about !== null) return `odds of ${about}${payload.link === "softmax" ? " against the average class" : ""}`;
  return `${payload.link === "log" ? "expected " : ""}${quotedName(payload.target.name, 40)}`;
}

export function claimTimes(link, estimate) {
  if (link === "identity") return "";
  return ` (${link === "log" ? "" : "odds "}× ${formatNumber(Math.exp(estimate))})`;
}

export function direction(estimate) {
  if (estimate === 0) return "higher or lower"; // such a claim does not hold, so this is what is uncertain
  return estimate > 0 ? "higher" : "lower";
}
