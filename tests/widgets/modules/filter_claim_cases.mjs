// Reads a payload of filters, its arrays and questions, and writes the claims that a page makes of them.
import { readFileSync } from "node:fs";

const root = new URL("../../../widgets/dpexplain_widgets/static/", import.meta.url);
const load = (path) => import(new URL(path, root));
const { readFilters } = await load("views/filter/filter_state.js");
const { filterClaim, filterClaimStrip, filterClaimWords, filterRegion } = await load("views/filter/filter_claims.js");
const { stripWords } = await load("views/claim/claim_words.js");
const { fromBase64 } = await load("state/unpack.js");

const { payload, arrays, cases } = JSON.parse(readFileSync(0, "utf8"));
const bytes = fromBase64(arrays);
const results = cases.map((choices) => {
  const values = { payload, filter_arrays: bytes, show_reference: false, ...choices };
  const view = readFilters({ get: (key) => values[key] });
  const region = filterRegion(view.outline, view.region);
  const claim = filterClaim(view, view.filters, region);
  if (claim === null) return null;
  const strip = filterClaimStrip(view, region);
  return { claim, strip, words: filterClaimWords(view, region, claim), holds: stripWords(strip) };
});
process.stdout.write(JSON.stringify(results));
