// Tabs: one visible part, chosen by click or by arrow keys.
import { html, listen, uniqueId } from "../../kit/dom.js";
import { indexAfterKey } from "../../kit/keyboard.js";

/**
 * Tabs over one panel. `parts` are [[name, label]]; `onChoose(name)` is called for another tab.
 * Returns {element, panel, choose(name), destroy()}; only the chosen tab is in the tab order.
 */
export function createTabs(title, parts, onChoose) {
  const id = uniqueId("tab");
  const panel = html("section", { class: "dpx-part dpx-tab-panel", role: "tabpanel", id: `${id}-panel` });
  const tabs = parts.map(([name, label]) => {
    const tab = html("button", {
      type: "button", role: "tab", class: "dpx-tab", id: `${id}-${name}`, "aria-controls": panel.id,
    }, label);
    tab.addEventListener("click", () => onChoose(name));
    return tab;
  });
  const element = html("div", { class: "dpx-tabs", role: "tablist", "aria-label": title }, tabs);
  const stop = listen(element, "keydown", (event) => {
    const next = indexAfterKey(event, tabs.indexOf(document.activeElement), parts.length);
    if (next === null || event.key.startsWith("Page")) return;
    event.preventDefault();
    tabs[next].focus();
    onChoose(parts[next][0]);
  });
  const choose = (name) => parts.forEach(([each], i) => {
    tabs[i].setAttribute("aria-selected", String(each === name));
    tabs[i].setAttribute("tabindex", each === name ? "0" : "-1");
    if (each === name) panel.setAttribute("aria-labelledby", tabs[i].id);
  });
  return { element, panel, choose, destroy: stop };
}
