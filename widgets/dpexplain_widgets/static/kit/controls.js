// Small form controls with their labels.
import { html, uniqueId } from "./dom.js";

/** A labeled checkbox; `onChange` gets its state. */
export function checkbox(text, checked, onChange) {
  const input = html("input", { type: "checkbox", checked });
  input.addEventListener("change", () => onChange(input.checked));
  const words = html("span", {}, text);
  return { element: html("label", { class: "dpx-checkbox" }, input, words), input, words };
}

/** A labeled select; `fill([[value, text, group]], chosen)` sets its options; groups are optional. */
export function choiceBox(text, onChoose) {
  const id = uniqueId("choice");
  const select = html("select", { id });
  select.addEventListener("change", () => onChoose(select.value));
  const element = html("span", { class: "dpx-choice" }, html("label", { for: id }, text), select);
  let shown = "";
  const fill = (options, chosen) => {
    const wanted = JSON.stringify(options);
    if (wanted !== shown) {
      shown = wanted;
      const groups = new Map(options.map(([, , group]) => [group, html("optgroup", { label: group })]));
      for (const [value, label, group] of options) groups.get(group).append(html("option", { value }, label));
      const listed = [...groups].flatMap(([group, element]) => (group ? [element] : [...element.children]));
      select.replaceChildren(...listed);
    }
    if (select.value !== chosen) select.value = chosen;
  };
  return { element, select, fill };
}

/** A button; `onPress` is called on click and by Enter or Space. */
export function button(text, onPress) {
  const element = html("button", { type: "button", class: "dpx-button" }, text);
  element.addEventListener("click", onPress);
  return element;
}
