import assert from "node:assert/strict";
import { test } from "node:test";

import {
  formatCount, formatDelta, formatEpsilon, formatLike, formatNumber, formatSigned, formatTick,
  plural, quotedName, shortName, shareEquation,
} from "../../../widgets/dpexplain_widgets/static/kit/format.js";
import { binSentence, estimateWords, guaranteeSentence, noiseVerdict, scoreWords } from "../../../widgets/dpexplain_widgets/static/kit/words.js";

test("numbers keep three significant digits, a true minus and thousands", () => {
  const written = [0, -0.12345, 1234.5, 1e-9, -2.5e8, Infinity].map((value) => formatNumber(value));
  assert.deepEqual(written, ["0", "−0.123", "1,235", "10⁻⁹", "−2.5·10⁸", "∞"]);
});

test("signs are written for changes", () => {
  assert.deepEqual([0.5, -0.5, 0].map((value) => formatSigned(value)), ["+0.5", "−0.5", "0"]);
});

test("epsilon and delta are rounded up, never down", () => {
  assert.equal(formatEpsilon(15.37201), "15.38");
  assert.equal(formatEpsilon(0.3), "0.3");
  assert.equal(formatEpsilon(0.25), "0.25");
  assert.equal(formatDelta(1.01e-6), "1.1·10⁻⁶");
  assert.equal(formatDelta(1e-6), "10⁻⁶");
  assert.equal(formatDelta(0), "0");
});

test("an infinite epsilon is a sign", () => {
  assert.deepEqual(["inf", Infinity].map(formatEpsilon), ["∞", "∞"]);
});

test("ticks have the decimals that their step needs", () => {
  const written = [[0.5, 0.25], [2, 1], [-20000, 5000], [0.05, 0.05], [0, 0.5]].map(([v, s]) => formatTick(v, s));
  assert.deepEqual(written, ["0.50", "2", "−20,000", "0.05", "0"]);
});

test("a column of numbers has the same decimals throughout", () => {
  assert.deepEqual([0.448, 0.37, 0.1].map((value) => formatLike(value, 0.448)), ["0.448", "0.370", "0.100"]);
});

test("counts are whole, and a noisy one may be negative", () => {
  assert.deepEqual([1234.4, -2.6, -0.2].map(formatCount), ["1,234", "−3", "0"]);
  assert.deepEqual([plural(1, "term"), plural(12, "term")], ["1 term", "12 terms"]);
});

test("a name of any length becomes one short line", () => {
  assert.equal(Array.from(shortName("x".repeat(10000), 60)).length, 60);
  assert.equal(shortName("nul\u0000tab\t"), "nul\ufffdtab\ufffd");
});

test("marks for direction stay inside their name", () => {
  assert.equal(quotedName("\u202eabc"), "\u2068\u202eabc\u2069");
});

test("a guarantee is told as what happens to one record", () => {
  const guarantee = { private: true, epsilon: 0.5, delta: 1e-6, adjacency: "replace", unit: "one record" };
  assert.equal(
    guaranteeSentence(guarantee),
    "Replacing one record changes the probability of any result by at most a factor of 1.65, plus 10⁻⁶.",
  );
  const person = { ...guarantee, epsilon: 0.25, delta: 0, unit: "one person, of whom at most 3 rows are used" };
  assert.equal(
    guaranteeSentence(person),
    "Replacing one person, of whom at most 3 rows are used, changes the probability of any result " +
      "by at most a factor of 1.29.", // exp(0.25) is 1.2840
  );
  assert.match(guaranteeSentence({ private: false }), /Nothing bounds/);
});

test("a contribution that is not marked as signal may be noise", () => {
  const signal = [false, true];
  assert.deepEqual([0, 1].map((bin) => noiseVerdict({ signal }, bin)), ["inside", "outside"]);
  assert.equal(noiseVerdict({ signal: null }, 0), null);
});

test("a score is named by what it scores", () => {
  const target = { name: "visits per year", unit: "visits", classes: null };
  assert.equal(scoreWords({ link: "identity", target }), "\u2068visits per year\u2069 (\u2068visits\u2069)");
  assert.equal(scoreWords({ link: "logit", target: { classes: ["no", "yes"] } }), "log-odds of “\u2068yes\u2069”");
});

test("a read-out says how wide the band is and why a count is negative", () => {
  const stds = { noise_std: [0.07], structure_std: [0.02], sampling_std: null, total_std: [0.0728], band_factor: 2 };
  const termFit = { labels: ["a"], special: [], contribution: [0.2], signal: [true], ...stds, count: [-235] };
  const payload = { link: "identity", target: { unit: "visits" }, epsilons: [1] };
  const fit = { guarantee: { private: true }, terms: [{ importance: 0.1 }, { importance: 0.4 }] };
  const state = { payload, fit, pinned: null, reference: null };
  assert.equal(
    binSentence(state, termFit, 0),
    "contribution +0.2 visits, outside the noise band of ±0.15: signal · " +
      "noisy count −235 (noise can make it negative)",
  );
  termFit.signal = [false];
  assert.ok(binSentence(state, termFit, 0).startsWith(
    "contribution +0.2 visits, inside the noise band of ±0.15: may be all noise or large, between +0.054 and +0.35",
  ));
  fit.terms[1].importance = 0.8;
  assert.ok(binSentence(state, termFit, 0).includes("may be all noise; close to average, between"));
});

test("a score of a count is the log of its expectation, and its contributions multiply it", () => {
  const payload = { link: "log", score_unit: "log of the expected visits", target: { name: "mdvis", unit: "visits" } };
  assert.equal(scoreWords(payload), quotedName("log of the expected visits"));
  const fit = { contribution: [Math.log(2)], noise_std: null, count: [5], labels: ["a"], special: [] };
  const state = { payload, fit: { guarantee: { private: true } }, pinned: null, reference: null, atReference: false };
  assert.match(binSentence(state, fit, 0), /contribution \+0\.693 \(expectation × 2\)/);
});

const estimated = {
  contribution: [0.5, 0.1], effect: [1, 0.1], effect_std: [0.2, 0.2], effect_factor: 3,
  effect_signal: [true, false], labels: ["a", "b"], count: [5, 5], special: [],
};

test("the estimate of a bin says its band and whether an effect is certain", () => {
  const words = "estimated effect in the population";
  assert.equal(estimateWords(estimated, 0), `${words} +1 (95% band +0.4 to +1.6: an effect is certain)`);
  assert.equal(estimateWords(estimated, 1), `${words} +0.1 (95% band −0.5 to +0.7: there may be no effect)`);
  assert.equal(estimateWords({ ...estimated, effect: null }, 0), "");
});

test("a bin is read with its estimate unless the released curve is shown alone", () => {
  const payload = { link: "identity", target: { unit: "", name: "y" } };
  const state = { payload, fit: { guarantee: { private: true } }, pinned: null, reference: null };
  const isRead = (shownCurve) => binSentence({ ...state, shownCurve }, estimated, 0).includes("an effect is certain");
  assert.deepEqual(["both", "effect", "released"].map(isRead), [true, true, false]);
});

test("a small probability is not said to be zero", () => {
  assert.equal(shareEquation("P", 0.0004), "P < 0.1%");
  assert.equal(shareEquation("P", 0.9996), "P > 99.9%");
  assert.equal(shareEquation("P", 0.123, 2), "P = 12%");
});
