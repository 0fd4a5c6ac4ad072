// Reads a payload of several classes, and writes the claim about the predicted class of each sample at each stop.
import { readFileSync } from "node:fs";

const root = new URL("../../../widgets/dpexplain_widgets/static/", import.meta.url);
const { decisionClaim } = await import(new URL("views/claim/claims.js", root));
const { sampleValues } = await import(new URL("views/local/contributions.js", root));
const { modelsOf } = await import(new URL("state/state.js", root));

const { payload } = JSON.parse(readFileSync(0, "utf8"));
const { samples } = payload;
const claims = payload.fits.map(([fit], stop) => samples.rows.map((row) => {
  const state = { payload, samples, stop, repeat: 0, fit, models: modelsOf(payload) };
  return decisionClaim(state, fit, { kind: "decision", bins: [], values: sampleValues(state, row, {}) });
}));
process.stdout.write(JSON.stringify(claims));
