// The row of buttons that save a view.
import { button, choiceBox } from "../kit/controls.js";
import { csvOf } from "./csv.js";
import { html, listen, setText } from "../kit/dom.js";
import { download } from "./download.js";
import { shortName } from "../kit/format.js";
import { isTyping } from "../kit/keyboard.js";
import { drawOnChange } from "../state/state.js";
import { guaranteeLine, headingOf, pictureOf, pngOf, svgText } from "./view_picture.js";

/** The views in an element, with their headings. */
function viewsIn(root) {
  return Array.from(root.querySelectorAll("header.dpx-head"), (head) => head.parentElement)
    .filter((view) => view.checkVisibility()); // asks for no layout
}

/** A file name made of the letters and digits of a heading. */
function fileName(heading, ending) {
  const plain = heading.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase();
  const words = plain.match(/[a-z0-9]+/g) ?? ["view"];
  return `${words.join("-").slice(0, 60)}.${ending}`;
}

/** Name of a view in a list: its heading without the selected term. */
function kindOf(view) {
  const heading = view.querySelector("h2, h3");
  const own = Array.from(heading?.childNodes ?? []).filter((node) => node.nodeType === 3);
  const words = own.map((node) => node.data).join("").trim().replace(/ of$/, "");
  return words || headingOf(view);
}

class SaveBar {
  constructor(root, model) {
    this.root = root;
    this.model = model;
    this.status = html("span", { class: "dpx-note", role: "status" });
    this.picked = null;
    this.which = choiceBox("Save", (name) => {
      this.picked = name;
    });
    const buttons = ["svg", "png", "csv"].map((ending) =>
      button(ending.toUpperCase(), () => this.save(this.wanted(), ending)));
    this.element = html("div", { class: "dpx-save", role: "group", "aria-label": "Save this view" },
      this.which.element, buttons, this.status);
    root.querySelector(".dpx-panel").append(this.element);
    this.stops = [
      listen(this.element, "pointerenter", () => this.fill()),
      listen(this.element, "focusin", () => this.fill()),
      listen(root, "keydown", (event) => this.handleKey(event)),
      drawOnChange(model, ["tab"], () => this.fill()),
    ];
    this.fill();
  }

  // Views come and go with tabs, so the list is rebuilt when the pointer or focus approaches.
  // Until one is picked, the front view is selected.
  fill() {
    const views = viewsIn(this.root);
    const names = views.map(kindOf);
    const front = views.find((view) => view.closest(".dpx-tab-panel")) ?? views[0];
    const chosen = names.includes(this.picked) ? this.picked : front && kindOf(front);
    this.which.fill(names.map((name) => [name, shortName(name, 40)]), chosen);
    this.which.element.hidden = names.length < 2;
  }

  wanted() {
    const views = viewsIn(this.root);
    return views.find((view) => kindOf(view) === this.which.select.value) ?? views[0];
  }

  handleKey(event) {
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.repeat;
    if (!plain || event.key !== "s" || isTyping(event)) return;
    const view = viewsIn(this.root).find((each) => each.contains(event.target));
    this.save(view ?? this.wanted(), "svg");
  }

  async save(view, ending) {
    const name = fileName(headingOf(view), ending);
    try {
      if (ending === "csv") download(csvOf(view, guaranteeLine(view, this.model)), "text/csv", name);
      else await this.savePicture(view, ending, name);
      setText(this.status, `saved as ${name}`);
    } catch (error) {
      setText(this.status, `could not be saved: ${error.message}`);
    }
  }

  async savePicture(view, ending, name) {
    const picture = pictureOf(view, this.root, this.model);
    if (ending === "svg") download(svgText(picture), "image/svg+xml", name);
    else download(await pngOf(picture), "image/png", name);
  }

  destroy() {
    for (const stop of this.stops) stop();
  }
}

/**
 * Buttons at the end of a frame that save one of its views. Returns a function that removes them.
 * @param {import("../types").Model} model
 */
export function addSaveBar(root, model) {
  const bar = new SaveBar(root, model);
  return () => bar.destroy();
}
