// Reads cases from standard input and writes the curves that the page's arithmetic makes of them.
import { readFileSync } from "node:fs";

const root = new URL("../../../widgets/dpexplain_widgets/static/", import.meta.url);
const { afterOperations, effectOf, startCurve } = await import(new URL("views/edit/arithmetic/edit_operations.js", root));

const cases = JSON.parse(readFileSync(0, "utf8"));
const results = cases.map(({ term, termFit, operations }) => {
  const start = startCurve(term, termFit);
  const began = process.hrtime.bigint();
  const after = afterOperations(start, operations);
  const milliseconds = Number(process.hrtime.bigint() - began) / 1e6;
  return { values: after.values, shift: after.shift, effect: effectOf(start, after), milliseconds };
});
process.stdout.write(JSON.stringify(results));
