// Unpacks compact payloads: see packing.py.

const LOWEST = 45; // values of the lowest digit, which also contains the sign
const DIGITS = 91;

/** The value of a letter: "#" is 0; the backslash is left out. */
function valueOf(text, place) {
  const code = text.charCodeAt(place);
  return code - (code > 92 ? 36 : 35);
}

/** Read lists of integers from streams of digits: a function of (count, digits) that sums their differences. */
function readerOf(streams) {
  const places = streams.map(() => 0);
  return (count, digits) => {
    const [start] = places;
    let sum = 0;
    const sums = Array.from({ length: count }, (_, i) => {
      const lowest = valueOf(streams[0], start + i);
      let size = lowest >> 1;
      for (let k = 1, unit = LOWEST; k < digits; k += 1, unit *= DIGITS) {
        size += unit * valueOf(streams[k], places[k] + i);
      }
      sum += lowest % 2 === 1 ? -size : size;
      return sum;
    });
    for (let k = 0; k < digits; k += 1) places[k] += count;
    return sums;
  };
}

/** Numbers from sums of integer steps of 10 to the minus k. */
function fromSteps(sums, k) {
  const scale = 10 ** Math.abs(k);
  return sums.map((sum) => (k >= 0 ? sum / scale : sum * scale));
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

/** Labels of bins with edges halfway between whole numbers. */
function wholeLabels({ edges, special }) {
  const labels = edges.slice(1).map((edge, i) => {
    const [low, high] = [edges[i] + 0.5, edge - 0.5];
    return low === high ? `${low}` : `${low} – ${high}`;
  });
  return [...labels, ...special];
}

function objectOf(entries) {
  const values = Object.fromEntries(entries);
  if (values.labels?.$q === 1) values.labels = wholeLabels(values);
  if (values.total_std?.$q === 1) values.total_std = totalOf(values);
  return values;
}

/** Decode {table, value, streams}: numbers from digits, booleans from ones and zeros, parts from the table. */
export function unpack({ table, value, streams = undefined }) {
  const steps = readerOf(streams?.$n ?? []);
  const ratios = readerOf(streams?.$l ?? []);
  const known = [];
  const read = (each) => {
    if (each === null || typeof each !== "object") return each;
    if (Array.isArray(each)) return each.map(read);
    if (Array.isArray(each.$n)) return fromSteps(steps(each.$n[1], each.$n[2]), each.$n[0]);
    if (Array.isArray(each.$l)) return ratios(each.$l[1], each.$l[2]).map((sum) => (1 + each.$l[0]) ** sum);
    if (typeof each.$b === "string") return Array.from(each.$b, (sign) => sign === "1");
    if (Number.isInteger(each.$r)) return known[each.$r];
    if (typeof each.$x === "string") return fromBase64(each.$x);
    const values = Object.entries(each.$t ?? each).map(([name, inner]) => [name, read(inner)]);
    if (each.$t) return values[0][1].map((_, i) => objectOf(values.map(([name, column]) => [name, column[i]])));
    return objectOf(values);
  };
  for (const each of table) known.push(read(each)); // the streams follow the table, then the value
  return read(value);
}
