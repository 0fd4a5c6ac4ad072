// Outlines of step curves and bands.

function fixed(value) {
  return Math.round(value * 100) / 100;
}

/** Path of a step curve with value i between edges i and i + 1; steps that are `apart` are not joined. */
export function stepPath(edges, values, x, y, apart = false) {
  return values.map((value, i) => {
    const level = fixed(y(value));
    const start = i === 0 || apart ? `M${fixed(x(edges[i]))} ${level}` : "";
    return `${start}V${level}H${fixed(x(edges[i + 1]))}`;
  }).join("");
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
