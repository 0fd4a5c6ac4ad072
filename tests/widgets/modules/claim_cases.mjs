// Reads payloads and bins from standard input and writes the claims that a page makes of them.
import { readFileSync } from "node:fs";

const root = new URL("../../../widgets/dpexplain_widgets/static/", import.meta.url);
const { claimStrip } = await import(new URL("views/shape/claims.js", root));
const { claimWords, stripWords } = await import(new URL("views/shape/claim_panel.js", root));

const results = JSON.parse(readFileSync(0, "utf8")).map(({ payload, termIndex, stop, one, other }) => {
  const fit = payload.fits[stop][0];
  const state = { payload, termIndex, stop, repeat: 0, fit, term: payload.terms[termIndex] };
  const strip = claimStrip(state, one, other);
  return { strip, words: claimWords(state, [one, other], strip[stop].claim), holds: stripWords(strip) };
});
process.stdout.write(JSON.stringify(results));
