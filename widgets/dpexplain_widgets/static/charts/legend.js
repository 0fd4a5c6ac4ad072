// The legend of a chart.
import { html, svg } from "../kit/dom.js";
import { formatEpsilon, quotedName } from "../kit/format.js";
import { shownLayer } from "./curves.js";
import { beyondMark } from "./marks.js";
import { binsInsideNoise, causeShares, epsilonWords, fitWords, otherWords } from "../kit/words.js";

const SWATCH = { width: 30, height: 16 };

function lineSwatch(role) {
  return svg("path", { d: "M1 8H29", class: `dpx-curve dpx-curve-${role}` });
}

function bandSwatch(hatchId) {
  return [
    svg("rect", { x: 1, y: 1, width: 28, height: 14, class: "dpx-band" }),
    svg("rect", { x: 15, y: 1, width: 14, height: 14, fill: `url(#${hatchId})` }),
  ];
}

function barSwatch(role) {
  return svg("rect", { x: 1, y: 3, width: 28, height: 10, class: `dpx-bar dpx-bar-${role}` });
}

function whiskerSwatch() {
  return svg("path", { d: "M3 8H27M3 4V12M27 4V12", class: "dpx-whisker" });
}

const POINT_SHAPES = {
  reference: "m0 -7l6 7l-6 7l-6 -7Z",
  pinned: "m-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0Z",
  repeat: "m0 -6v12",
  replay: "m-5 -5l10 10m0 -10l-10 10",
  other: "m-5 -5h10v10h-10Z",
};

/** The mark of one fit at a point, for charts without curves; a halo separates it from a bar. */
export function pointMark(role, x, y) {
  const d = `M${x} ${y}${POINT_SHAPES[role]}`;
  const halo = svg("path", { d, class: "dpx-halo" });
  return svg("g", {}, halo, svg("path", { d, class: `dpx-mark dpx-mark-${role}` }));
}

/** The estimate of an effect at a point; hollow where no effect is certain. */
export function effectDot(cx, cy, certain) {
  return svg("circle", { cx, cy, r: 4, class: `dpx-effect-dot ${certain ? "" : "dpx-effect-open"}`.trim() });
}

function effectSwatch(kind) {
  if (kind !== "numeric") {
    return [svg("path", { d: "M3 8H27", class: "dpx-effect-whisker" }), effectDot(15, 8, true)];
  }
  return [svg("rect", { x: 1, y: 1, width: 28, height: 14, class: "dpx-effect-band" }), lineSwatch("effect")];
}

function swatchOf(role, kind, hatchId) {
  if (role === "effect") return effectSwatch(kind);
  if (role === "cut") return beyondMark(15, 4, "up", "noise");
  if (role === "noise") return kind === "numeric" ? bandSwatch(hatchId) : whiskerSwatch();
  if (kind === "numeric") return lineSwatch(role);
  return role === "main" || role === "only-reference" ? barSwatch(role) : pointMark(role, 15, 8);
}

function legendEntries(state, termFit, cut, replay) {
  const { kind } = state.term;
  const entries = [];
  const layer = shownLayer(state);
  if (layer !== "released") {
    const whose = layer === "effect" ? `, ${epsilonWords(state)}` : "";
    entries.push(["effect", `estimated effect, 95%${whose}`]);
  }
  if (layer === "effect") {
    // The released curve is not drawn.
  } else if (state.atReference) {
    entries.push([kind === "numeric" ? "reference" : "only-reference", fitWords(state)]);
  } else {
    const named = state.payload.name ? quotedName(state.payload.name, 40) : "";
    const plain = state.fit.guarantee.private ? "private model" : "non-private model";
    const name = named && !state.fit.guarantee.private ? `${named}, not private` : named || plain;
    entries.push(["main", `${name}, ${epsilonWords(state)}${termFit.edited ? ", edited" : ""}`]);
  }
  if (state.fits.length > 1) entries.push(["repeat", "other fits at this ε"]);
  if (state.pinned) {
    const epsilon = formatEpsilon(state.payload.epsilons[state.pinnedStop]);
    entries.push(["pinned", `pinned, ε = ${epsilon}`]);
  }
  if (state.other) entries.push(["other", otherWords(state)]);
  if (termFit.noise_std && layer !== "effect") {
    const inner = termFit.structure_std ? `; ${kind === "numeric" ? "dark" : "inner"}: privacy alone` : "";
    const bins = termFit.labels.length - termFit.special.length;
    const resolved = kind === "numeric" ? `; ${bins} bin${bins === 1 ? "" : "s"} resolved` : "";
    const inside = binsInsideNoise(termFit);
    const hatched = inside === null ? "hatched" : `hatched (${inside} of ${termFit.labels.length})`;
    entries.push(["noise", `${bandName(termFit)}${inner}; ${hatched}: may be noise${resolved}`]);
  }
  if (replay !== null) entries.push(["replay", `simulated rerun ${replay + 1}`]);
  if (cut) entries.push(["cut", "continues off-scale"]);
  if (state.reference && !state.atReference) {
    entries.push(["reference", "non-private reference, not releasable"]);
  }
  return entries;
}

/** What the wide band of a curve is. */
export function bandName(termFit) {
  return termFit.structure_std ? "total uncertainty" : "privacy noise";
}

/** How much of the band comes from each source. */
function splitItem(shares) {
  const width = 90;
  let x = 0;
  const parts = shares.map(([, share], k) => {
    const part = svg("rect", { x, y: 3, width: share * width, height: 10, class: `dpx-split dpx-split-${k}` });
    x += share * width;
    return part;
  });
  const words = shares.map(([name, share]) => `${name} ${Math.round(100 * share)}%`).join(", ");
  const bar = svg("svg", { width, height: 16, class: "dpx-swatch", "aria-hidden": "true" }, parts);
  const item = html("li", { class: "dpx-legend-item" }, bar, html("span", {}, `variance: ${words}`));
  item.title = "Sources of the variance of this curve, averaged over the records";
  return item;
}

/**
 * Replace the entries of a legend; `cut` is whether marks show that bands are cut off.
 * @param {import("../types").State} state
 * @param {import("../types").TermFit} termFit
 */
export function drawLegend(list, state, termFit, { cut, hatchId, replay = null }) {
  const shares = shownLayer(state) === "effect" || state.atReference ? [] : causeShares(termFit);
  const { kind } = state.term;
  const items = legendEntries(state, termFit, cut, replay).map(([role, label]) =>
    html(
      "li",
      { class: "dpx-legend-item" },
      svg("svg", { ...SWATCH, class: "dpx-swatch", "aria-hidden": "true" }, swatchOf(role, kind, hatchId)),
      html("span", {}, label),
    ),
  );
  list.replaceChildren(...items, ...(shares.length > 0 ? [splitItem(shares)] : []));
}
