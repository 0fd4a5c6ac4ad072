// The numbers of a shape as a table, for reading and copying.
import { mainTerm } from "./curves.js";
import { html } from "./dom.js";
import { formatCount, formatSigned, formatNumber, shortName } from "./format.js";

function columnsOf(state, termFit) {
  const columns = [
    ["bin", (i) => shortName(termFit.labels[i], 80)],
    ["contribution", (i) => formatSigned(termFit.contribution[i], 4)],
  ];
  if (termFit.noise_std) {
    columns.push(["DP noise, standard deviation", (i) => formatNumber(termFit.noise_std[i], 3)]);
  }
  const count = state.fit.guarantee.private ? "noisy count" : "count";
  columns.push([count, (i) => formatCount(termFit.count[i])]);
  if (state.reference && !state.atReference) {
    const reference = state.reference.terms[state.termIndex];
    const same = reference.labels.length === termFit.labels.length;
    if (same) {
      const value = (i) => formatSigned(reference.contribution[i], 4);
      columns.push(["non-private reference", value]);
    }
  }
  return columns;
}

function tableOf(state) {
  const termFit = mainTerm(state);
  const columns = columnsOf(state, termFit);
  const head = html("tr", {}, columns.map(([name]) => html("th", { scope: "col" }, name)));
  const rows = termFit.labels.map((_, i) =>
    html("tr", {}, columns.map(([, text], k) => html(k === 0 ? "th" : "td", k === 0 ? { scope: "row" } : {}, text(i)))),
  );
  return html("table", { class: "dpx-table" }, html("thead", {}, head), html("tbody", {}, rows));
}

/** A closed section with the table; its rows exist only while it is open. */
export function numbersTable(read) {
  const box = html("div", { class: "dpx-table-box", tabindex: "0" });
  const element = html("details", { class: "dpx-details" }, html("summary", {}, "Numbers as a table"), box);
  const draw = () => box.replaceChildren(...(element.open ? [tableOf(read())] : []));
  element.addEventListener("toggle", draw);
  return { element, draw };
}
