// The ledger view: privacy cost of each model shown, and of all together.
import { html, svg } from "../../kit/dom.js";
import { formatDelta, formatEpsilon, formatNumber, plural, shortName } from "../../kit/format.js";
import { CHOICE_KEYS, drawOnChange, readState } from "../../state/state.js";
import { offerTable, scrollBox } from "../../kit/table.js";
import { viewWidget } from "../../kit/view.js";

const MU_WORDS = "μ is the Gaussian-DP parameter: the squares of μ add up over releases, and so do these shares.";

function number(value) {
  return value === "inf" ? Infinity : value;
}

function squaredMu(fits) {
  return fits.reduce((sum, fit) => sum + (fit.guarantee.mu ?? NaN) ** 2, 0);
}

function naiveSum(fits) {
  return fits.reduce((sum, fit) => sum + number(fit.guarantee.epsilon), 0);
}

function shareBar(share) {
  if (!Number.isFinite(share)) return html("td", {}, "–");
  const width = Math.max(1, Math.round(share * 100));
  const bar = svg(
    "svg", { class: "dpx-share", width: 100, height: 12, "aria-hidden": "true" },
    svg("rect", { x: 0, y: 1, width: 100, height: 10, class: "dpx-share-track" }),
    svg("rect", { x: 0, y: 1, width, height: 10, class: "dpx-bar dpx-bar-main" }),
  );
  return html("td", {}, bar, ` ${formatNumber(100 * share, 2)}%`);
}

function modelRow(state, fits, i, total) {
  const several = fits.length > 1 ? `, ${fits.length} fits` : "";
  const chosen = i === state.stop;
  const epsilon = formatEpsilon(state.payload.epsilons[i]);
  const kept = fits.every((fit) => fit.guarantee.private);
  return html(
    "tr", { class: chosen ? "dpx-row-chosen" : null, "aria-current": chosen ? "true" : null },
    html("th", { scope: "row" }, `${kept ? `ε = ${epsilon}` : "not private"}${several}`),
    shareBar(squaredMu(fits) / total),
  );
}

function referenceRow(state) {
  const chosen = state.atReference ? "dpx-row-chosen " : "";
  return html(
    "tr", { class: `${chosen}dpx-reference-text` },
    html("th", { scope: "row" }, "reference, ε = ∞"),
    html("td", {}, "not private, in no total"),
  );
}

function modelsTable(state) {
  const { fits, reference } = state.payload;
  const total = squaredMu(fits.flat());
  const heads = ["each model alone", "share of the combined budget (μ²)"];
  const rows = fits.map((row, i) => modelRow(state, row, i, total));
  if (reference !== null) rows.push(referenceRow(state));
  return html(
    "table", { class: "dpx-table" },
    html("thead", {}, html("tr", {}, heads.map((name) => html("th", { scope: "col" }, name)))),
    html("tbody", {}, rows),
  );
}

function sumSentence(state) {
  const fits = state.payload.fits.flat();
  if (fits.length < 2) return null;
  const naive = naiveSum(fits);
  if (!Number.isFinite(naive)) return null;
  const words = `Simple addition of the ε of ${plural(fits.length, "model")} would give ` +
    `${formatNumber(naive, 4)}; composition is tighter.`;
  return html("p", { class: "dpx-note" }, words);
}

function referenceSentence({ payload }) {
  const promised = payload.fits.flat().some((fit) => fit.guarantee.private);
  if (payload.reference === null || !promised) return null;
  const words = "The totals hold only while the non-private reference, and everything derived " +
    "from it, are not shared.";
  return html("p", { class: "dpx-note dpx-reference-text" }, words);
}

function headline(words) {
  const readable = words.replace(/\d(\.\d+)?e-\d+/g, (power) => formatDelta(Number(power)));
  const text = readable.charAt(0).toUpperCase() + readable.slice(1);
  return html("p", { class: "dpx-sum" }, text);
}

/** Unit of the total, and the total if fits depended on results. */
function wordsOfUse(ledger) {
  const whom = ledger.unit === undefined ? "" : ` for ${shortName(ledger.unit, 80)}`;
  const adaptive = number(ledger.adaptive_epsilon ?? "inf");
  if (!Number.isFinite(adaptive)) return whom;
  return `${whom}, if the fits were fixed in advance, and ε = ${formatEpsilon(adaptive)} otherwise`;
}

/** The guarantee of a ledger for a unit other than the unit of the total. */
function wordsOfUnit(total) {
  if (total.unbounded.length > 0) return `no bound for ${shortName(total.unit, 80)}`;
  return `for ${shortName(total.unit, 80)} ε = ${formatEpsilon(number(total.epsilon))}`;
}

/** Total cost of the entries of a ledger. */
export function ledgerWords(ledger) {
  const spends = (entry) => entry.private || entry.events.some((event) => event.type !== "non_private");
  if (ledger.entries.length > 0 && !ledger.entries.some(spends)) return "no private release; ε = ∞";
  const cap = number(ledger.cap_epsilon);
  const capped = Number.isFinite(cap) ? ` of a cap of ${formatEpsilon(cap)}` : "";
  const spent = formatEpsilon(number(ledger.private_epsilon));
  const total = `private releases ε = ${spent}${capped} at δ = ${formatDelta(ledger.delta)}`;
  const [own, ...others] = ledger.units ?? [];
  const first = own?.unbounded.length > 0 ? wordsOfUnit(own) : `${total}${wordsOfUse(ledger)}`;
  const parts = [first, ...others.map(wordsOfUnit)];
  if (number(ledger.total_epsilon) === Infinity && number(ledger.private_epsilon) !== Infinity) {
    parts.push("including non-private releases ε = ∞");
  }
  return parts.join("; ");
}

const EVENTS_SHOWN = 6;

/** What an event released, and with how much noise. */
function eventWords(event) {
  const noise = () => `noise multiplier ${formatNumber(event.noise_multiplier, 4)}`;
  const times = event.count === undefined ? "" : `${event.count} × `;
  switch (event.type) {
    case "gaussian": return `${times}Gaussian, ${noise()}`;
    case "subsampled_gaussian":
      return `${times}Gaussian, ${noise()}, on a random sample of ` +
        `${formatNumber(100 * event.sampling_probability, 3)}% of the records`;
    case "laplace": return `${times}Laplace, ${noise()}`;
    case "discrete_laplace":
      return `${times}discrete Laplace, noise multiplier ` +
        `${formatNumber(event.scale / event.sensitivity, 4)}`;
    case "pure": return `${times}pure mechanism, ε = ${formatEpsilon(event.epsilon)}`;
    case "non_private": return `not private, ${shortName(event.reason, 80)}`;
    default: return "unknown kind of event";
  }
}

function eventLines(events) {
  const lines = events.slice(0, EVENTS_SHOWN).map((event) => html(
    "div", {}, html("bdi", {}, shortName(event.label, 60)), ": ", html("bdi", {}, eventWords(event)),
  ));
  const more = events.length - lines.length;
  if (more > 0) lines.push(html("div", {}, `and ${more} more`));
  return lines;
}

function entryRow(entry) {
  const epsilon = formatEpsilon(number(entry.epsilon));
  return html(
    "tr", {},
    html("th", { scope: "row" }, html("bdi", {}, shortName(entry.label, 80))),
    html("td", { class: "dpx-events" }, eventLines(entry.events)),
    html("td", {}, html("bdi", {}, shortName(entry.unit, 80))),
    html("td", {}, entry.private ? `ε = ${epsilon}` : "ε = ∞, not private"),
  );
}

function ledgerPart(ledger) {
  if (ledger === null) {
    return [html("p", { class: "dpx-note" }, "No ledger attached: figures cover these fits only.")];
  }
  const name = html("bdi", {}, shortName(ledger.dataset, 80));
  const table = html("table", { class: "dpx-table dpx-entries" }, html("tbody", {}, ledger.entries.map(entryRow)));
  return [
    html("p", { class: "dpx-ledger-total" }, "Ledger of ", html("strong", {}, name), `: ${ledgerWords(ledger)}.`),
    html("details", { class: "dpx-details" },
      html("summary", {}, plural(ledger.entries.length, "entry").replace("entrys", "entries")),
      scrollBox("Entries of the ledger", table)),
  ];
}

/**
 * Put the ledger view into `host`. Returns a function that ends it.
 * @param {import("../../types").Model} model
 */
export function createLedger(model, host, { standalone = false } = {}) {
  const sums = html("div");
  const alone = html("div");
  const ledgerBox = html("div");
  const models = scrollBox("Cost of each model");
  const head = html("header", { class: "dpx-head" }, html("h3", {}, "What it costs"));
  // Next to other parts, only sentences fit.
  const shares = standalone ? models
    : html("details", { class: "dpx-details" }, html("summary", {}, "Each model alone"), alone, models);
  host.append(
    offerTable(head, () => modelsTable(readState(model))),
    html("div", { class: "dpx-ledger-grid" }, html("div", {}, ...(standalone ? [alone] : []), sums, ledgerBox), shares),
  );
  let shownLedger;
  const draw = () => {
    const state = readState(model);
    const { payload } = state;
    const [own, ...rest] = payload.guarantee_words.map(headline).reverse();
    const [apart, why] = [rest.reverse(), sumSentence(state)];
    sums.replaceChildren(...[own, referenceSentence(state)].filter(Boolean));
    alone.replaceChildren(...apart, ...(why === null ? [] : [why]));
    const few = payload.fits.length + (payload.reference === null ? 0 : 1) < 2;
    shares.hidden = few && (standalone || apart.length === 0);
    if (!shares.hidden) models.replaceChildren(modelsTable(state), html("p", { class: "dpx-note" }, MU_WORDS));
    // Not redrawn while scrubbing, so that a list of entries stays open.
    if (shownLedger !== payload.ledger) ledgerBox.replaceChildren(...ledgerPart(payload.ledger));
    shownLedger = payload.ledger;
  };
  const stop = drawOnChange(model, CHOICE_KEYS, draw);
  draw();
  return stop;
}

export default viewWidget("ledger", createLedger);
