// Light or dark theme, as in the notebook, or else as in the system.

function luminance(color) {
  const numbers = color.match(/[\d.]+/g);
  if (numbers === null || numbers.length < 3) return null;
  const [red, green, blue] = numbers.map(Number);
  return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255;
}

function colorOfVariable(name) {
  const probe = document.createElement("span");
  probe.style.cssText = `display:none;color:var(${name},transparent)`;
  document.body.append(probe);
  const color = getComputedStyle(probe).color;
  probe.remove();
  return color === "rgba(0, 0, 0, 0)" ? null : color;
}

/** Whether the page around a view is dark. */
function pageIsDark() {
  const declared = document.body.dataset.jpThemeLight;
  if (declared !== undefined) return declared === "false";
  const color = colorOfVariable("--jp-layout-color0");
  const light = color === null ? null : luminance(color);
  if (light !== null) return light < 0.5;
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

/** Keep `root.dataset.theme` at "light" or "dark". Returns a function that stops it. */
export function followTheme(root) {
  const apply = () => {
    root.dataset.theme = pageIsDark() ? "dark" : "light";
  };
  const observer = new MutationObserver(apply);
  observer.observe(document.body, {
    attributes: true,
    attributeFilter: ["class", "style", "data-jp-theme-light", "data-jp-theme-name"],
  });
  const query = matchMedia("(prefers-color-scheme: dark)");
  query.addEventListener("change", apply);
  apply();
  return () => {
    observer.disconnect();
    query.removeEventListener("change", apply);
  };
}
