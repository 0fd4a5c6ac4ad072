// A tooltip at the pointer, with the first words of a read-out; the read-out itself serves keys and screen readers.
import { html, setText } from "../kit/dom.js";

const APART = 14;

/**
 * A tooltip for what `plot` draws: `show(event, title, text)` and `hide()`.
 * @param {HTMLElement} plot
 */
export function pointerTip(plot) {
  const title = html("strong");
  const text = html("span");
  const tip = html("div", { class: "dpx-tip", "aria-hidden": "true" }, title, text);
  const show = (event, heading, words) => {
    const root = plot.closest(".dpx");
    if (root === null || event.pointerType === "touch") return;
    if (tip.parentElement !== root) root.append(tip);
    setText(title, heading);
    setText(text, words.split(" · ")[0]);
    const frame = root.getBoundingClientRect();
    const { width, height } = tip.getBoundingClientRect();
    const [x, y] = [event.clientX - frame.left, event.clientY - frame.top];
    const left = x + APART + width > frame.width ? x - APART - width : x + APART;
    tip.style.left = `${Math.max(0, left)}px`;
    tip.style.top = `${y - APART - height < 0 ? y + APART : y - APART - height}px`;
  };
  plot.addEventListener("pointerleave", () => tip.remove());
  return { show, hide: () => tip.remove() };
}
