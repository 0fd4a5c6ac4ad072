// The numbers of a view as a CSV file.
import { tableIn } from "../kit/table.js";

const NUMBER = /^[+\u2212-]?\d[\d,]*(\.\d+)?$/;
const FORMULA = /^[=+\-@\t\r]/;
const ISOLATES = /[\u2066-\u2069]/g;

/** A cell of a file: text is quoted, and cannot be interpreted as a formula by a spreadsheet. */
export function csvCell(text) {
  const plain = text.replace(ISOLATES, "");
  if (NUMBER.test(plain)) return plain.replaceAll(",", "").replace("\u2212", "-").replace("+", "");
  const harmless = FORMULA.test(plain) ? `'${plain}` : plain;
  return `"${harmless.replaceAll('"', '""')}"`;
}

/** A CSV file of the table of a view, with its guarantee as the last column. */
export function csvOf(view, guarantee) {
  const table = tableIn(view);
  if (table === null) throw new Error("this view has no table of numbers");
  const rows = Array.from(table.rows, (row, i) =>
    [...Array.from(row.cells, (cell) => cell.textContent), i === 0 ? "guarantee" : guarantee]);
  return rows.map((texts) => `${texts.map(csvCell).join(",")}\n`).join("");
}
