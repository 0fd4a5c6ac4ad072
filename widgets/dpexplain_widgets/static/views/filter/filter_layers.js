// A slider that fades from the sample, through both, to the contributions.
import { html, uniqueId } from "../../kit/dom.js";
import { layerWords } from "./filter_words.js";

export class LayerSlider {
  constructor(onChoose) {
    const id = uniqueId("layers");
    const ends = { min: 0, max: 100, step: 5 };
    this.slider = html("input", { type: "range", id, ...ends, class: "dpx-layer-slider" });
    this.slider.addEventListener("input", () => onChoose(Number(this.slider.value) / 100));
    this.element = html(
      "div", { class: "dpx-controls dpx-layers" },
      html("label", { for: id }, "Contributions over the sample"),
      html("span", { class: "dpx-layer-ends" },
        html("span", { "aria-hidden": "true" }, "sample"), this.slider,
        html("span", { "aria-hidden": "true" }, "contributions")),
    );
  }

  draw(opacity, shown) {
    this.element.hidden = !shown;
    const percent = Math.round(100 * opacity);
    if (this.slider.value !== String(percent)) this.slider.value = String(percent);
    this.slider.setAttribute("aria-valuetext", `${percent}%: ${layerWords(opacity)}`);
  }
}
