// Reads a payload and questions from standard input and writes the claims that a page makes of them.
import { readFileSync } from "node:fs";

const root = new URL("../../../widgets/dpexplain_widgets/static/", import.meta.url);
const { claimStrip, typicalShares } = await import(new URL("views/claim/claims.js", root));
const { claimWords, frequencyWords, stripWords } = await import(new URL("views/claim/claim_words.js", root));

const { payload, cases } = JSON.parse(readFileSync(0, "utf8"));
const results = cases.map(({ termIndex, stop, question }) => {
  const fit = payload.fits[stop][0];
  const state = { payload, termIndex, stop, repeat: 0, fit, term: payload.terms[termIndex] };
  const strip = claimStrip(state, question);
  const shares = typicalShares(state, question, strip[stop].claim);
  return {
    strip, shares, words: claimWords(state, question, strip[stop].claim),
    often: frequencyWords(state, question, shares), holds: stripWords(strip),
  };
});
process.stdout.write(JSON.stringify(results));
