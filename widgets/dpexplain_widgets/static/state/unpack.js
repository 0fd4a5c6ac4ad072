// Unpacks compact payloads: see packing.py.

/** The numbers of a list of integer steps of 10 to the minus k. */
export function fromSteps([k, ...differences]) {
  const scale = 10 ** Math.abs(k);
  let sum = 0;
  return differences.map((difference) => {
    sum += difference;
    return k >= 0 ? sum / scale : sum * scale;
  });
}

/** Numbers from a list of differences of logarithms, in steps of `share`. */
export function fromRatios([share, ...differences]) {
  let sum = 0;
  return differences.map((difference) => {
    sum += difference;
    return (1 + share) ** sum;
  });
}

/** The bytes of base64 text, as a kernel would send them. */
export function fromBase64(text) {
  return new DataView(Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0)).buffer);
}

const PARTS_OF_TOTAL = ["noise_std", "structure_std", "sampling_std"];

/** The standard deviation of a sum of uncorrelated parts. */
function totalOf(values) {
  const parts = PARTS_OF_TOTAL.map((name) => values[name]).filter(Boolean);
  return parts[0].map((_, i) => Math.hypot(...parts.map((part) => part[i])));
}

/** Decode {table, value}: numbers from steps, booleans from ones and zeros, parts from the table. */
export function unpack({ table, value }) {
  const known = new Map();
  const fromTable = (place) => {
    if (!known.has(place)) known.set(place, read(table[place]));
    return known.get(place);
  };
  const read = (each) => {
    if (each === null || typeof each !== "object") return each;
    if (Array.isArray(each)) return each.map(read);
    if (Array.isArray(each.$n)) return fromSteps(each.$n);
    if (Array.isArray(each.$l)) return fromRatios(each.$l);
    if (typeof each.$b === "string") return Array.from(each.$b, (sign) => sign === "1");
    if (Number.isInteger(each.$r)) return fromTable(each.$r);
    if (typeof each.$x === "string") return fromBase64(each.$x);
    const values = Object.fromEntries(Object.entries(each).map(([name, inner]) => [name, read(inner)]));
    if (values.total_std?.$q === 1) values.total_std = totalOf(values);
    return values;
  };
  return read(value);
}
