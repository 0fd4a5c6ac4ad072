// Reads a payload with samples, and stops and thresholds, and writes the decisions that a page tabulates.
import { readFileSync } from "node:fs";

const root = new URL("../../../widgets/dpexplain_widgets/static/", import.meta.url);
const { decisionsOf, predictionsOverEpsilon } = await import(new URL("views/local/people.js", root));
const { modelsOf } = await import(new URL("state/state.js", root));
const { sampleValues } = await import(new URL("views/local/contributions.js", root));

const { payload, cases } = JSON.parse(readFileSync(0, "utf8"));
const results = cases.map(({ stop, repeat, threshold }) => {
  const fit = payload.fits[stop][repeat];
  const models = modelsOf(payload);
  const state = { payload, models, samples: payload.samples, stop, repeat, fit, atReference: false };
  const values = sampleValues(state, payload.samples.rows[0], {});
  return { rows: decisionsOf(state, threshold), over: predictionsOverEpsilon(state, values) };
});
process.stdout.write(JSON.stringify(results));
