// The numbers of a shape as a table, for reading and copying.
import { effectEnds, mainTerm } from "../charts/curves.js";
import { html } from "./dom.js";
import { formatCount, formatNumber, formatSigned, shortName } from "./format.js";
import { contributionOf } from "./words.js";

function columnsOf(state, termFit) {
  /** @type {[string, (i: number) => string][]} */
  const columns = [
    ["bin", (i) => shortName(termFit.labels[i], 80)],
    ["contribution", (i) => formatSigned(termFit.contribution[i], 4)],
  ];
  if (termFit.noise_std) {
    columns.push(["DP noise, standard deviation", (i) => formatNumber(termFit.noise_std[i], 3)]);
    const others = [["structure_std", "bins and trees"], ["sampling_std", "sampling"]];
    for (const [key, name] of others.filter(([key]) => termFit[key])) {
      columns.push([`${name}, standard deviation`, (i) => formatNumber(termFit[key][i], 3)]);
    }
    columns.push(["mark", (i) => (termFit.signal[i] ? "signal" : "may be noise")]);
  }
  const ends = effectEnds(termFit);
  if (ends !== null) {
    columns.push(["estimated effect in the population", (i) => formatSigned(termFit.effect[i], 3)]);
    ["low", "high"].forEach((name, k) => {
      columns.push([`${name} end of its 95% band`, (i) => formatSigned(ends[i][k], 3)]);
    });
  }
  const count = state.fit.guarantee.private ? "noisy count" : "count";
  columns.push([count, (i) => formatCount(termFit.count[i])]);
  if (state.reference && !state.atReference) {
    const value = (i) => contributionOf(state.reference, state, termFit.labels[i]);
    const known = termFit.labels.some((_, i) => value(i) !== null);
    if (known) columns.push(["non-private reference", (i) => formatSigned(value(i), 4)]);
  }
  return columns;
}

/** A table of strings; the first of each row is its heading. */
export function plainTable(heads, rows) {
  const cell = (text, k) => (k === 0 ? html("th", { scope: "row" }, html("bdi", {}, text)) : html("td", {}, text));
  return html(
    "table", { class: "dpx-table" },
    html("thead", {}, html("tr", {}, heads.map((name) => html("th", { scope: "col" }, name)))),
    html("tbody", {}, rows.map((texts) => html("tr", {}, texts.map(cell)))),
  );
}

/**
 * The numbers of the chosen term.
 * @param {import("../types").State} state
 */
export function shapeTable(state) {
  const termFit = mainTerm(state);
  const columns = columnsOf(state, termFit);
  const rows = termFit.labels.map((_, i) => columns.map(([, text]) => text(i)));
  return plainTable(columns.map(([name]) => name), rows);
}

/** A box that scrolls by mouse or keyboard, with a label for screen readers. */
export function scrollBox(name, ...children) {
  const attributes = { class: "dpx-table-box", tabindex: "0", role: "region", "aria-label": name };
  return html("div", attributes, children);
}

const makers = new WeakMap();

/** Offer the numbers of the view with this heading for saving, if it shows no table. */
export function offerTable(head, make) {
  makers.set(head, make);
  return head;
}

/** The table of a view, open or closed; null if it has none. */
export function tableIn(view) {
  const head = view.querySelector("header.dpx-head");
  if (makers.has(head)) return makers.get(head)();
  const closed = Array.from(view.querySelectorAll("details")).find((each) => makers.has(each));
  return closed ? makers.get(closed)() : view.querySelector("table.dpx-table");
}

function numberIn(text) {
  const found = text.replace(/[−,\u2066-\u2069]/g, (sign) => (sign === "−" ? "-" : "")).match(/-?\d+(\.\d+)?/);
  return found === null ? null : Number(found[0]);
}

/** Compare two cells: as numbers if both begin with one, else as text. */
function compareCells(a, b) {
  const [first, second] = [a, b].map(numberIn);
  return first !== null && second !== null && first !== second ? first - second : a.localeCompare(b);
}

/** Let the headings of a table sort its rows. `order` is {column, down}, kept by the caller. */
function sortable(table, order) {
  const heads = Array.from(table.tHead.rows[0].cells);
  const sort = () => {
    heads.forEach((head, k) => {
      const way = order.down ? "descending" : "ascending";
      if (k === order.column) head.setAttribute("aria-sort", way);
      else head.removeAttribute("aria-sort");
    });
    if (order.column === null) return;
    const textOf = (row) => row.cells[order.column].textContent;
    const rows = Array.from(table.tBodies[0].rows);
    rows.sort((a, b) => (order.down ? -1 : 1) * compareCells(textOf(a), textOf(b)));
    table.tBodies[0].append(...rows);
  };
  heads.forEach((head, column) => {
    const press = html("button", { type: "button", class: "dpx-sort" }, head.textContent);
    press.addEventListener("click", () => {
      order.down = order.column === column ? !order.down : column > 0;
      order.column = column;
      sort();
    });
    head.replaceChildren(press);
  });
  sort();
  return table;
}

/** A collapsible section; `make()` creates its table, which exists only while open. Headings sort its rows. */
export function numbersTable(make, isSorted = true) {
  const box = scrollBox("Numbers as a table");
  const order = { column: null, down: false };
  const element = html("details", { class: "dpx-details" }, html("summary", {}, "Numbers as a table"), box);
  const draw = () => box.replaceChildren(...(element.open ? [isSorted ? sortable(make(), order) : make()] : []));
  element.addEventListener("toggle", draw);
  makers.set(element, make);
  return { element, draw };
}
