// The legend of the edit view.
import { bandName } from "../../charts/legend.js";
import { html } from "../../kit/dom.js";

function legendItem(kind, words) {
  return html("li", { class: "dpx-legend-item" },
    html("span", { class: `dpx-edit-swatch dpx-edit-swatch-${kind}`, "aria-hidden": "true" }),
    html("span", {}, words));
}

/** Only what is drawn: no band without noise, no second curve before the first edit. */
export function drawEditLegend(list, { start, curve }, preview) {
  const edited = curve.values.some((value, i) => value !== start.values[i]);
  list.replaceChildren(...[
    edited ? legendItem("before", "as released") : null,
    legendItem("now", edited ? "edited" : "as released"),
    preview ? legendItem("preview", "preview") : null,
    start.termFit.total_std ? legendItem("band", bandName(start.termFit)) : null,
  ].filter(Boolean));
}
