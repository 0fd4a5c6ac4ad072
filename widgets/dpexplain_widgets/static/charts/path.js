// Outlines of step curves and bands.

function fixed(value) {
  return Math.round(value * 100) / 100;
}

/** Path of a step curve with value i between edges i and i + 1. */
export function stepPath(edges, values, x, y) {
  if (values.length === 0) return "";
  const parts = [`M${fixed(x(edges[0]))} ${fixed(y(values[0]))}`];
  for (let i = 0; i < values.length; i += 1) {
    parts.push(`V${fixed(y(values[i]))}`, `H${fixed(x(edges[i + 1]))}`);
  }
  return parts.join("");
}

/** Closed outline between two step curves. */
export function bandPath(edges, lower, upper, x, y) {
  if (lower.length === 0) return "";
  const parts = [stepPath(edges, upper, x, y)];
  for (let i = lower.length - 1; i >= 0; i -= 1) {
    parts.push(`V${fixed(y(lower[i]))}`, `H${fixed(x(edges[i]))}`);
  }
  return `${parts.join("")}Z`;
}
