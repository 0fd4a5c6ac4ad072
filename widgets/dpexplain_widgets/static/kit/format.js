// Formats of numbers and names.

const SUPERSCRIPTS = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

function withMinus(text) {
  return text.replace("-", "−");
}

function withThousands(text) {
  const [whole, fraction] = text.split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

function powerOfTen(value, digits) {
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
  const raised = Array.from(exponent.replace("+", ""), (sign) => SUPERSCRIPTS[sign]).join("");
  const short = String(Number(mantissa));
  return short === "1" ? `10${raised}` : `${withMinus(short)}·10${raised}`;
}

/** A number with `digits` significant digits and no trailing zeros. */
export function formatNumber(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e7 || size < 1e-4) return powerOfTen(value, digits);
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
  return withMinus(withThousands(String(Number(value.toFixed(decimals)))));
}

/** A number with its sign always written. */
export function formatSigned(value, digits = 3) {
  const text = formatNumber(value, digits);
  return value > 0 ? `+${text}` : text;
}

/** A value, or 0 if it is a rounding error next to its uncertainty. */
export function aboveRounding(value, std) {
  return Math.abs(value) < 1e-9 * std ? 0 : value;
}

/** A number with the decimals of the largest number in its column, so they line up. */
export function formatLike(value, largest) {
  if (!(largest >= 1e-4) || largest >= 1e7) return formatNumber(value);
  const decimals = Math.max(0, 2 - Math.floor(Math.log10(largest)));
  return withMinus(withThousands(value.toFixed(decimals)));
}

/** Label of an axis tick: as many decimals as the step needs. */
export function formatTick(value, step) {
  if (value === 0) return "0";
  if (Math.abs(value) >= 1e7 || step < 1e-5) return formatNumber(value, 3);
  let decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const scaled = step * 10 ** decimals;
  if (Math.abs(scaled - Math.round(scaled)) > 1e-6) decimals += 1;
  return withMinus(withThousands(value.toFixed(decimals)));
}

/** A day, given as days since 1970, as a date. */
export function formatDay(day) {
  const date = new Date(Math.floor(day) * 86400000);
  return Number.isNaN(date.getTime()) ? formatNumber(day) : date.toISOString().slice(0, 10);
}

/** The day that begins at an edge between two days; for the last edge, the day that ends there. */
export function edgeDay(day, edges) {
  return formatDay(day === edges.at(-1) ? day : Math.ceil(day));
}

/** Days since 1970 of a date that a user entered; NaN if it is not a date. */
export function dayOf(text) {
  return Date.parse(`${text}T00:00:00Z`) / 86400000;
}

/** A value of a feature in readable form. */
export function formatValue({ is_date: isDate }, value, digits = 4) {
  return isDate ? formatDay(value) : formatNumber(value, digits);
}

/** A number rounded up to `digits` significant digits. */
function roundedUp(value, digits) {
  const scale = 10 ** (digits - 1 - Math.floor(Math.log10(value)));
  // 12 digits: 0.3 * 1000 must not become 300.00000000000006 and then 301.
  return Math.ceil(Number((value * scale).toPrecision(12))) / scale;
}

/** A positive bound, rounded up: rounding to the nearest could claim more privacy than there is. */
export function formatBound(bound, digits) {
  return Number.isFinite(bound) ? formatNumber(roundedUp(bound, digits), digits) : "∞";
}

/** The privacy parameter epsilon, rounded up. "inf" and infinity become the sign. */
export function formatEpsilon(epsilon) {
  if (typeof epsilon !== "number" || !Number.isFinite(epsilon)) return "∞";
  return epsilon > 0 ? formatBound(epsilon, 4) : "0";
}

/** The privacy parameter delta, as a power of ten, rounded up. */
export function formatDelta(delta) {
  return delta > 0 ? powerOfTen(roundedUp(delta, 2), 2) : "0";
}

/** A probability or share in percent, never rounded to 0 or 100. */
export function formatShare(share, digits = 3) {
  if (share > 0.999) return ">99.9%";
  return share < 0.001 ? "<0.1%" : `${formatNumber(100 * share, share > 0.99 ? 3 : digits)}%`;
}

/** The same share as an equation: "P = 12%", "P < 0.1%". */
export function shareEquation(name, share, digits = 3) {
  const text = formatShare(share, digits);
  return /^[<>]/.test(text) ? `${name} ${text[0]} ${text.slice(1)}` : `${name} = ${text}`;
}

/** A count of records, as an integer: noise makes fractions meaningless. */
export function formatCount(count) {
  return withMinus(withThousands(String(Math.round(count) + 0)));
}

/** A count with its noun: "1 term", "12 terms". */
export function plural(count, noun) {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/**
 * A name from data, made safe for one line: control characters become visible, and the length
 * is limited. The isolates keep right-to-left marks inside the name.
 */
export function shortName(name, limit = 60) {
  const characters = Array.from(String(name).slice(0, 4 * limit + 8));
  const visible = characters.map((sign) => (/[\u0000-\u001f\u007f-\u009f]/.test(sign) ? "�" : sign));
  const cut = characters.length > limit ? [...visible.slice(0, limit - 1), "…"] : visible;
  return cut.join("");
}

/** A name in a sentence: shortened, and isolated from the direction of the surrounding text. */
export function quotedName(name, limit = 60) {
  return `\u2068${shortName(name, limit)}\u2069`;
}
