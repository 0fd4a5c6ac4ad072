// Positions of values on a line.

/**
 * Map the domain [low, high] to the range [from, to]; `.invert` reverses it.
 * @param {number[]} domain
 * @param {number[]} range
 */
export function linearScale([low, high], [from, to]) {
  const span = high - low || 1;
  const scale = (value) => from + ((value - low) / span) * (to - from);
  scale.invert = (position) => low + ((position - from) / (to - from || 1)) * span;
  scale.domain = [low, high];
  scale.range = [from, to];
  return scale;
}

/** Positions of positive values between `from` and `to`, on a logarithmic scale. */
export function logPositions(values, from, to) {
  if (values.length === 0) return [];
  const logs = values.map(Math.log);
  const [low, high] = [Math.min(...logs), Math.max(...logs)];
  if (low === high) return values.map(() => (from + to) / 2);
  const scale = linearScale([low, high], [from, to]);
  return logs.map(scale);
}

function niceStep(span, count) {
  const raw = span / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  const factor = [1, 2, 2.5, 5, 10].find((candidate) => candidate * power >= raw * 0.999);
  return factor * power;
}

function multiples(step, low, high) {
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i += 1) {
    ticks.push(Number((i * step).toPrecision(12)));
  }
  return ticks;
}

/** Round values within [low, high], about `count` of them, and their step; only whole ones on request. */
export function niceTicks(low, high, count, whole = false) {
  if (!(high > low)) return { ticks: [low], step: 1 };
  const nice = niceStep(high - low, count);
  const step = whole ? Math.max(1, Math.floor(nice)) : nice;
  return { ticks: multiples(step, low, high), step };
}

const MONTHS = [1, 2, 3, 6, 12, 24, 36, 48, 60, 120, 240, 600, 1200];

/** First days of months within [low, high], as days since 1970, at most `count` of them. */
export function dayTicks(low, high, count) {
  const monthOf = (day) => {
    const date = new Date(day * 86400000);
    return 12 * date.getUTCFullYear() + date.getUTCMonth();
  };
  const dayOfMonth = (month) => Date.UTC(Math.floor(month / 12), month % 12) / 86400000;
  const [first, last] = [Math.floor(monthOf(low)), Math.ceil(monthOf(high))];
  const step = MONTHS.find((each) => (last - first) / each <= count) ?? MONTHS.at(-1);
  const ticks = [];
  for (let month = Math.ceil(first / step) * step; month <= last; month += step) ticks.push(dayOfMonth(month));
  const inside = ticks.filter((day) => day >= low && day <= high);
  return inside.length > 1 ? inside : [low, high];
}

/** An axis with a tick at both ends that includes 0 and all values: {domain, ticks, step}. */
export function niceAxis(values, count) {
  let low = 0;
  let high = 0;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low === high) return { domain: [-1, 1], ticks: [-1, 0, 1], step: 1 };
  const step = niceStep(high - low, count);
  const first = Math.floor(low / step + 1e-9) * step;
  const last = Math.ceil(high / step - 1e-9) * step;
  return { domain: [first, last], ticks: multiples(step, first, last), step };
}

/** Index of the position nearest to `x`; -1 if there are none. */
export function nearestIndex(positions, x) {
  let best = -1;
  for (let i = 0; i < positions.length; i += 1) {
    if (best < 0 || Math.abs(positions[i] - x) < Math.abs(positions[best] - x)) best = i;
  }
  return best;
}
