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
  assert.equal(ledgerWords(ledger([fit, reference], "inf")), `${spent}; with the non-private ones ε = ∞`);
});

test("an entry that is private in part counts as a private release", () => {
  const mixed = { private: false, events: [...reference.events, ...fit.events] };
  assert.ok(ledgerWords(ledger([mixed], "inf")).startsWith("private releases ε = 1"));
});
