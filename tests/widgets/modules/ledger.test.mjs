import assert from "node:assert/strict";
import test from "node:test";

import { ledgerWords } from "../../../widgets/dpexplain_widgets/static/views/ledger/ledger.js";

const fit = { private: true, events: [{ type: "gaussian" }] };
const reference = { private: false, events: [{ type: "non_private" }] };
const ledger = (entries, total) => (
  { entries, cap_epsilon: "inf", private_epsilon: 1, total_epsilon: total, delta: 1e-6 }
);

test("a ledger without private release names no finite epsilon", () => {
  assert.equal(ledgerWords({ ...ledger([reference], "inf"), private_epsilon: 0 }), "no private release; ε = ∞");
});

test("the private epsilon stands beside a reference", () => {
  const spent = "private releases ε = 1 at δ = 10⁻⁶";
  assert.equal(ledgerWords(ledger([fit], 1)), spent);
  assert.equal(ledgerWords(ledger([fit, reference], "inf")), `${spent}; including non-private releases ε = ∞`);
});

test("the total names its unit, and for which use it holds", () => {
  const units = [
    { unit: "one record", epsilon: 1, unbounded: [] },
    { unit: "one person (ward)", epsilon: "inf", unbounded: ["fit"] },
  ];
  const words = ledgerWords({ ...ledger([fit], 1), unit: "one record", adaptive_epsilon: 1.25, units });
  assert.equal(
    words,
    "private releases ε = 1 at δ = 10⁻⁶ for one record, if the fits were fixed in advance, and " +
      "ε = 1.25 otherwise; no bound for one person (ward)",
  );
});

test("a total without a bound is no number", () => {
  const units = [{ unit: "one person (ward)", epsilon: "inf", unbounded: ["fit"] }];
  const spent = { ...ledger([fit], "inf"), private_epsilon: "inf", unit: "one person (ward)", units };
  assert.equal(ledgerWords(spent), "no bound for one person (ward)");
});

test("an entry that is private in part counts as a private release", () => {
  const mixed = { private: false, events: [...reference.events, ...fit.events] };
  assert.ok(ledgerWords(ledger([mixed], "inf")).startsWith("private releases ε = 1"));
});
