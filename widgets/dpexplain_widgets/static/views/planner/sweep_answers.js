// Answers about epsilon that follow from the fits shown, without new ones.
import { html } from "../../kit/dom.js";
import { formatEpsilon, formatNumber, shortName } from "../../kit/format.js";
import { plainTable } from "../../kit/table.js";

const CERTAINTY = 1.2815515655446004; // nine of ten normal values are above the mean minus this many deviations

const meanOf = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The name of the only metric of all fits, or "". */
export function onlyMetric({ fits }) {
  const names = new Set(fits.flat().flatMap((fit) => Object.keys(fit.metrics ?? {})));
  const [name] = names;
  return names.size === 1 && fits.flat().every((fit) => name in fit.metrics) ? name : "";
}

/**
 * The smallest epsilon at which 9 of 10 fits would reach a target, as in epsilon_for_metric of Python; infinity if the
 * largest is not enough.
 */
export function epsilonForTarget({ epsilons, fits }, name, target) {
  const sign = name.includes("AUROC") ? 1 : -1;
  const groups = fits.map((row) => row.map((fit) => sign * fit.metrics[name]));
  const spread = groups.map((group) => group.reduce((sum, value) => sum + (value - meanOf(group)) ** 2, 0));
  const left = groups.reduce((sum, group) => sum + group.length - 1, 0);
  const std = left > 0 ? Math.sqrt(spread.reduce((sum, each) => sum + each, 0) / left) : 0;
  let best = -Infinity;
  const reached = groups.map((group) => (best = Math.max(best, meanOf(group))) - CERTAINTY * std - sign * target);
  const first = reached.findIndex((each) => each >= 0);
  if (first <= 0) return first < 0 ? Infinity : epsilons[0];
  const share = -reached[first - 1] / (reached[first] - reached[first - 1]);
  return Math.exp(Math.log(epsilons[first - 1]) + share * Math.log(epsilons[first] / epsilons[first - 1]));
}

/** The same as a sentence; "" without a target. */
export function targetWords(payload, name, target) {
  if (name === "" || target === null || !Number.isFinite(target)) return "";
  const epsilon = epsilonForTarget(payload, name, target);
  const wanted = `${shortName(name, 24)} ${formatNumber(target, 4)}`;
  if (epsilon === Infinity) return `No ε up to ${formatEpsilon(payload.epsilons.at(-1))} makes ${wanted} likely.`;
  return `With ε = ${formatNumber(epsilon, 2)}, 9 of 10 fits would reach ${wanted}.`;
}

/** What each epsilon of the sweep gives, as a table; null for a single fit. */
export function sweepTable(payload) {
  const { epsilons, fits, terms } = payload;
  if (epsilons.length < 2) return null;
  const name = onlyMetric(payload);
  const known = (key) => fits.every((row) => typeof row[0][key] === "number");
  const mean = (row, of) => meanOf(row.map(of));
  /** @type {[string, (row: import("../../types").Fit[], stop: number) => string][]} */
  const columns = [
    ["ε", (row, stop) => formatEpsilon(epsilons[stop])],
  ];
  if (known("terms_above_noise")) {
    const aboveNoise = (row) => formatNumber(mean(row, (fit) => fit.terms_above_noise), 3);
    columns.push([`above noise, of ${terms.length}`, aboveNoise]);
  }
  if (known("noise_share")) {
    columns.push(["noise in curves", (row) => `${formatNumber(100 * mean(row, (fit) => fit.noise_share), 2)}%`]);
  }
  if (name) {
    const metric = (fit) => fit.metrics[name];
    columns.push([`${shortName(name, 24)}, not private`, (row) => formatNumber(mean(row, metric), 3)]);
  }
  if (columns.length < 2) return null;
  return plainTable(columns.map(([head]) => head),
    fits.map((row, stop) => columns.map(([, cell]) => cell(row, stop))));
}

/** "Exists at ε = 1 and 4 only" for a pair that some fits lack; "" otherwise. */
export function existenceWords({ epsilons, fits, terms }, term) {
  const i = terms.findIndex(({ name }) => name === term?.name);
  if (i < 0) return "";
  const has = epsilons.filter((_, stop) => fits[stop].some((fit) => !fit.terms[i].absent));
  const missing = fits.slice(0, epsilons.length).some((row) => row.some((fit) => fit.terms[i].absent));
  if (!missing) return "";
  const list = has.map((epsilon) => formatEpsilon(epsilon)).join(", ").replace(/, ([^,]*)$/, " and $1");
  const only = has.length < epsilons.length ? " only" : ", but not in every fit";
  return list === "" ? " exists in no private fit." : ` exists at ε = ${list}${only}.`;
}

/**
 * The epsilon from which the chosen term rises above the noise, or those at which it exists, as parts of a sentence;
 * none if unknown.
 */
export function neededWords(needed, term, payload) {
  const exists = existenceWords(payload, term);
  if (exists) return [html("bdi", {}, shortName(term.name, 60)), exists];
  const found = needed.find(([name]) => name === term?.name);
  if (found === undefined && term?.kind !== "pair") return [];
  const words = found === undefined ? "not computed for a pair of features" : found[2];
  return [html("bdi", {}, shortName(term.name, 60)), ` above noise: ${words}.`];
}
