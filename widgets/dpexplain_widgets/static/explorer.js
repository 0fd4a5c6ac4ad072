// The Explorer: all views of one model object, side by side.
import { html } from "./dom.js";
import { createImportance } from "./importance.js";
import { createLedger } from "./ledger.js";
import { createOverview } from "./overview.js";
import { createShape } from "./shape.js";
import { viewWidget } from "./view.js";

const PARTS = [
  ["overview", createOverview],
  ["importance", createImportance],
  ["shape", createShape],
  ["ledger", createLedger],
];

/** Put the Explorer into `host`. Returns a function that ends it. */
export function createExplorer(model, host) {
  const stops = PARTS.map(([name, create]) => {
    const part = html("section", { class: `dpx-part dpx-${name}` });
    host.append(part);
    return create(model, part, { standalone: false });
  });
  return () => {
    for (const stop of stops) stop();
  };
}

export default viewWidget("explorer", createExplorer);
