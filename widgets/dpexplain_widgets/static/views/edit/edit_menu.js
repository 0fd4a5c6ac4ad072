// Operations on a curve and their parameters.

const shaped = (operation, more = {}) => () => ({ operation, ...more });

/** Every operation of the menu: name, group, text, parameter, and how to build it. */
export const MENU = [
  { name: "set", group: "Level", text: "Set to", number: "value", make: (value) => ({ operation: "set", value }) },
  { name: "shift", group: "Level", text: "Shift by", number: "by", make: (by) => ({ operation: "shift", by }) },
  {
    name: "scale", group: "Level", text: "Scale by", number: "factor", start: 0.5,
    make: (factor) => ({ operation: "scale", factor })
  },
  { name: "interpolate", group: "Level", text: "Interpolate", ordered: true, make: shaped("interpolate") },
  {
    name: "through", group: "Level", text: "Interpolate through selected points", ordered: true, through: true,
    chosen: "Select points first: press Space, or Ctrl-click.", make: shaped("interpolate")
  },
  { name: "left", group: "Level", text: "Align to the left", make: shaped("align", { to: "left" }) },
  { name: "right", group: "Level", text: "Align to the right", make: shaped("align", { to: "right" }) },
  { name: "average", group: "Level", text: "Align to the average", make: shaped("align", { to: "average" }) },
  {
    name: "increasing", group: "Shape", text: "Make increasing", ordered: true,
    make: shaped("monotone", { direction: "increasing" })
  },
  {
    name: "decreasing", group: "Shape", text: "Make decreasing", ordered: true,
    make: shaped("monotone", { direction: "decreasing" })
  },
  { name: "convex", group: "Shape", text: "Make convex", ordered: true, make: shaped("convex", { bend: "convex" }) },
  { name: "concave", group: "Shape", text: "Make concave", ordered: true, make: shaped("convex", { bend: "concave" }) },
  { name: "smooth", group: "Noise", text: "Smooth (as noise allows)", ordered: true, make: shaped("smooth") },
  {
    name: "lines", group: "Noise", text: "Local linear smoothing", ordered: true, number: "reach", start: 0.05,
    make: (reach) => ({ operation: "smooth", reach })
  },
  { name: "flatten", group: "Noise", text: "Flatten inside the noise band", make: shaped("flatten") },
  { name: "denoise", group: "Noise", text: "Denoise", make: shaped("denoise") },
  { name: "stretch", group: "Noise", text: "Undo shrinkage", make: shaped("stretch") },
  { name: "recover", group: "Noise", text: "Re-estimate from released sums", ordered: true, make: shaped("recover") },
  { name: "repair-up", group: "Repair", text: "Repair: increasing", ordered: true, repair: "increasing" },
  { name: "repair-down", group: "Repair", text: "Repair: decreasing", ordered: true, repair: "decreasing" },
  {
    name: "merge", group: "Term", text: "Merge selected bins", chosen: "Select the bins to merge first.",
    make: shaped("merge")
  },
  { name: "remove", group: "Term", text: "Remove term", whole: true, make: shaped("remove") },
  { name: "revert", group: "Term", text: "Revert term", whole: true, make: shaped("revert") },
];

function placed(step, where, mean) {
  return { ...step, ...where, ...(mean ? { mean } : {}) };
}

/** The operation for a choice of the menu, on the bins named by `where`. */
export function operationFrom(choice, term, { number, where, mean }) {
  const base = { term: term.name };
  if (choice.repair) {
    const steps = [
      { operation: "recover", ...base },
      { operation: "monotone", ...base, direction: choice.repair },
    ].map((step) => ({ ...step, ...where }));
    return { operation: "composed", title: `repair ${term.name}, known to be ${choice.repair}`, steps };
  }
  const { operation, ...more } = choice.make(number);
  const step = { operation, ...base, ...more };
  if (choice.whole) return operation === "remove" && mean === "intercept" ? { ...step, mean } : step;
  return placed(step, where, mean);
}
