// Tables for the CSV files of views that show no table.
import { formatEpsilon, formatNumber, formatSigned, shortName } from "../kit/format.js";
import { placesOf } from "../views/rank/ranks.js";
import { plainTable } from "../kit/table.js";

const isKnown = (value) => value !== null && value !== undefined;
const countHead = (state) => (state.fit.guarantee.private ? "noisy count" : "count");
const listedName = (state, i) => shortName(state.payload.terms[i].name, 200);

/** A table of the columns [[head, strings]] with a number in at least one row. */
function columnsTable(columns) {
  const kept = columns.filter(([, texts]) => texts.some((text) => text !== ""));
  const rows = kept[0][1].map((_, i) => kept.map(([, texts]) => texts[i]));
  return plainTable(kept.map(([head]) => head), rows);
}

/**
 * Importances of the listed terms in the selected fit and in those compared with it.
 * @param {import("../types").State} state
 * @param {number[]} listed
 */
export function importanceTable(state, listed) {
  const terms = listed.map((i) => state.fit.terms[i]);
  const numbers = (read) => terms.map((term) => (isKnown(read(term)) ? formatNumber(read(term), 4) : ""));
  const beside = (fit) => listed.map((i) => (fit ? formatNumber(fit.terms[i].importance, 4) : ""));
  return columnsTable([
    ["term", listed.map((i) => listedName(state, i))],
    ["importance", numbers((term) => term.importance)],
    ["noise floor", numbers((term) => term.noise_floor)],
    ["above noise", terms.map(({ above_noise: above }) => (isKnown(above) ? String(above) : ""))],
    ["place", listed.map((i) => (state.fit.terms[i].axes ? "" : String(placesOf(state.fit)[i])))],
    ["best rank", numbers((term) => term.ranks?.[0])],
    ["worst rank", numbers((term) => term.ranks?.[1])],
    ["estimated effect in the population", numbers((term) => term.effect_size)],
    ["standard deviation of the effect", numbers((term) => term.effect_size_std)],
    ["effect is certain", terms.map(({ has_effect: certain }) => (isKnown(certain) ? String(certain) : ""))],
    ["importance, pinned ε", beside(state.pinned)],
    [state.payload.target.by_class ? "importance, other class" : "importance, other model", beside(state.other)],
    ["importance, non-private reference", beside(state.atReference ? null : state.reference)],
  ]);
}

/**
 * A row for each epsilon: guarantee, model quality and proportion of noise.
 * @param {import("../types").State} state
 */
export function overviewTable(state) {
  const { payload, repeat, reference } = state;
  const fits = payload.fits.map((row) => row[Math.min(repeat, row.length - 1)]);
  if (reference !== null) fits.push(reference);
  const names = Array.from(new Set(fits.flatMap((fit) => Object.keys(fit.metrics))));
  const texts = (read) => fits.map((fit) => (isKnown(read(fit)) ? formatNumber(read(fit), 4) : ""));
  return columnsTable([
    ["fit", fits.map((fit, i) =>
      (fit === reference ? "non-private reference" : `ε = ${formatEpsilon(payload.epsilons[i])}`))],
    ["δ", fits.map(({ guarantee }) => (guarantee.private ? String(guarantee.delta) : ""))],
    ...names.map((name) => [`${shortName(name, 60)} (diagnostic, not private)`, texts((fit) => fit.metrics[name])]),
    ["terms above noise", texts((fit) => fit.terms_above_noise)],
    ["share of noise", texts((fit) => fit.noise_share)],
  ]);
}

/**
 * All bins of the listed terms in the selected fit.
 * @param {import("../types").State} state
 * @param {number[]} listed
 */
export function allTermsTable(state, listed) {
  const bins = listed.flatMap((i) => state.fit.terms[i].labels.map((_, bin) => [i, bin]));
  const of = (key) => bins.map(([i, bin]) => {
    const values = state.fit.terms[i][key];
    return values ? formatSigned(values[bin], 4) : "";
  });
  const beside = state.atReference ? null : state.reference;
  const ofReference = ([i, bin]) => {
    const place = beside?.terms[i].labels.indexOf(state.fit.terms[i].labels[bin]) ?? -1;
    return place < 0 ? "" : formatSigned(beside.terms[i].contribution[place], 4);
  };
  return columnsTable([
    ["term", bins.map(([i]) => listedName(state, i))],
    ["bin", bins.map(([i, bin]) => shortName(state.fit.terms[i].labels[bin], 80))],
    ["contribution", of("contribution")],
    ["total standard deviation", of("total_std")],
    ["estimated effect in the population", of("effect")],
    ["standard deviation of the effect", of("effect_std")],
    [countHead(state), of("count")],
    ["non-private reference", bins.map(ofReference)],
  ]);
}

/** A curve as released and as edited: bins, both values, counts. */
export function editTable({ state, start, curve }) {
  const { labels, count } = start.termFit;
  return columnsTable([
    ["bin", labels.map((name) => shortName(name, 80))],
    ["as released", start.values.map((value) => formatSigned(value, 4))],
    ["edited", curve.values.map((value) => formatSigned(value, 4))],
    [countHead(state), count.map((value) => formatSigned(value, 4))],
  ]);
}
