import assert from "node:assert/strict";
import { test } from "node:test";

import { page, paint } from "./page_stub.mjs";
import { choose } from "../../../widgets/dpexplain_widgets/static/state/choosing.js";
import { stubModel } from "../../../widgets/dpexplain_widgets/static/state/stub_model.js";

function watched(choices) {
  const model = stubModel(choices);
  const sent = [];
  model.save_changes = () => sent.push({ stop: model.get("stop"), term: model.get("term") });
  return { model, sent };
}

test("the kernel learns the latest of several choices, once, after the frame", async () => {
  const { model, sent } = watched({ stop: 0, term: "age" });
  choose(model, { stop: 1 });
  choose(model, { stop: 2, term: "job" });
  assert.equal(model.get("stop"), 2);
  assert.deepEqual(sent, []);
  await paint();
  assert.deepEqual(sent, [{ stop: 2, term: "job" }]);
  await paint();
  assert.equal(sent.length, 1);
});

test("an answer to an earlier choice does not replace one that the kernel does not know", async () => {
  const { model, sent } = watched({ stop: 0, term: "age" });
  choose(model, { stop: 1 });
  await paint();
  choose(model, { stop: 2 });
  model.set("stop", 1); // the kernel repeats what it was sent
  assert.equal(model.get("stop"), 2);
  await paint();
  assert.deepEqual(sent.map(({ stop }) => stop), [1, 2]);
});

test("the kernel sets what the reader has not chosen meanwhile, and everything once it knows the choice", async () => {
  const { model } = watched({ stop: 0, term: "age" });
  choose(model, { stop: 1 });
  model.set("term", "job");
  assert.equal(model.get("term"), "job");
  await paint();
  model.set("stop", 5);
  assert.equal(model.get("stop"), 5);
});

test("a hidden page, which has no frames, notifies the kernel at once", () => {
  const { model, sent } = watched({ stop: 0, term: "age" });
  page.hidden = true;
  choose(model, { stop: 1, term: "job" });
  page.hidden = false;
  assert.deepEqual(sent, [{ stop: 1, term: "job" }]);
});
