// The arithmetic of edits, for a preview on the page. The same as dpexplain/edit/kernels.py, which
// computes the edits that are applied; a test compares the two.

const LEAST_WEIGHT = 1e-9;
const CONVEX_ROUNDS = 10_000;

function total(values) {
  return values.reduce((sum, value) => sum + value, 0);
}

function largest(values) {
  return values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
}

/** Weights with which empty bins follow others. */
export function positiveWeights(weights) {
  const sum = total(weights);
  if (!(sum > 0)) return weights.map(() => 1);
  return weights.map((weight) => weight / sum + LEAST_WEIGHT);
}

/** Weighted mean; the plain mean if all weights are zero. */
export function weightedMean(values, weights) {
  const sum = total(weights);
  if (!(sum > 0)) return total(values) / values.length;
  return values.reduce((mean, value, i) => mean + value * weights[i], 0) / sum;
}

/** The nearest increasing (sign 1) or decreasing (-1) curve, by pooling adjacent violators. */
export function monotoneCurve(values, weights, sign) {
  const weight = positiveWeights(weights);
  const blocks = [];
  values.forEach((value, i) => {
    blocks.push({ mean: sign * value, weight: weight[i], size: 1 });
    while (blocks.length > 1 && blocks.at(-2).mean > blocks.at(-1).mean) {
      const [right, left] = [blocks.pop(), blocks.pop()];
      const sum = left.weight + right.weight;
      const mean = (left.weight * left.mean + right.weight * right.mean) / sum;
      blocks.push({ mean, weight: sum, size: left.size + right.size });
    }
  });
  return blocks.flatMap(({ mean, size }) => Array(size).fill(sign * mean));
}

// Solves a symmetric tridiagonal system.
function solveTridiagonal(diagonal, beside, side) {
  const n = diagonal.length;
  const [d, s] = [diagonal.slice(), side.slice()];
  for (let i = 1; i < n; i += 1) {
    const factor = beside[i - 1] / d[i - 1];
    d[i] -= factor * beside[i - 1];
    s[i] -= factor * s[i - 1];
  }
  for (let i = n - 1; i >= 0; i -= 1) {
    s[i] = (s[i] - (i + 1 < n ? beside[i] * s[i + 1] : 0)) / d[i];
  }
  return s;
}

function brokenLine(x, target, weight, kinks) {
  const knots = [0, ...kinks, x.length - 1];
  const size = knots.length;
  const [diagonal, beside, side] = [size, size - 1, size].map((count) => Array(count).fill(0));
  let piece = 0;
  const parts = x.map((at, i) => {
    while (piece < size - 2 && i >= knots[piece + 1]) piece += 1;
    const [left, right] = [x[knots[piece]], x[knots[piece + 1]]];
    const share = (at - left) / (right - left);
    diagonal[piece] += weight[i] * (1 - share) ** 2;
    diagonal[piece + 1] += weight[i] * share ** 2;
    beside[piece] += weight[i] * share * (1 - share);
    side[piece] += weight[i] * (1 - share) * target[i];
    side[piece + 1] += weight[i] * share * target[i];
    return { piece, share };
  });
  const heights = solveTridiagonal(diagonal, beside, side);
  return parts.map(({ piece: at, share }) => (1 - share) * heights[at] + share * heights[at + 1]);
}

function bends(x, fit, kinks) {
  const ends = [0, ...kinks, x.length - 1];
  const slopes = ends.slice(1).map((end, i) => (fit[end] - fit[ends[i]]) / (x[end] - x[ends[i]]));
  return slopes.slice(1).map((slope, i) => slope - slopes[i]);
}

function gains(x, residual) {
  const found = Array(x.length).fill(-Infinity);
  let [tail, mass] = [0, 0];
  for (let i = x.length - 1; i > 0; i -= 1) {
    tail += residual[i] * x[i];
    mass += residual[i];
    if (i < x.length - 1) found[i] = tail - x[i] * mass;
  }
  return found;
}

function withTrueKinks(x, target, weight, given, start) {
  let [kinks, before] = [given, start];
  for (;;) {
    const fit = brokenLine(x, target, weight, kinks);
    const now = bends(x, fit, kinks);
    if (kinks.length === 0 || Math.min(...now) > 0) return { fit, kinks };
    const old = bends(x, before, kinks);
    const steps = now.map((bend, i) => (bend <= 0 && old[i] > bend ? old[i] / (old[i] - bend) : 1));
    const first = Math.min(...steps.filter((_, i) => now[i] <= 0));
    const step = Math.max(first, 0);
    before = before.map((value, i) => value + step * (fit[i] - value));
    kinks = kinks.filter((_, i) => now[i] > 0 || steps[i] > first + 1e-15);
  }
}

/** The nearest convex (sign 1) or concave (-1) curve at increasing x. */
export function convexCurve(places, values, weights, sign) {
  const n = values.length;
  if (n < 3) return values.slice();
  const weight = positiveWeights(weights);
  const target = values.map((value) => sign * value);
  const x = places.map((place) => (place - places[0]) / (places[n - 1] - places[0]));
  const tolerance = 1e-12 * (largest(target) + 1e-300);
  let kinks = [];
  let fit = brokenLine(x, target, weight, kinks);
  for (let round = 0; round < CONVEX_ROUNDS; round += 1) {
    const gain = gains(x, fit.map((value, i) => weight[i] * (target[i] - value)));
    for (const kink of kinks) gain[kink] = -Infinity;
    let best = 0;
    gain.forEach((value, i) => {
      if (value > gain[best]) best = i;
    });
    if (gain[best] <= tolerance) break;
    const more = [...kinks, best].sort((a, b) => a - b);
    ({ fit, kinks } = withTrueKinks(x, target, weight, more, fit));
  }
  return fit.map((value) => sign * value);
}

/** Local lines, weighted by distance and inverse variance. */
export function smoothCurve(values, weights, std, reach) {
  const weight = positiveWeights(weights);
  let sum = 0;
  const middle = weight.map((each) => {
    sum += each;
    return sum - each / 2;
  });
  const raw = std.map((deviation) => 1 / Math.max(deviation, 1e-12) ** 2);
  const most = Math.max(...raw);
  return values.map((_, i) => {
    let [mass, first, second, level, slope] = [0, 0, 0, 0, 0];
    for (let j = 0; j < values.length; j += 1) {
      const apart = middle[j] - middle[i];
      const near = Math.exp(-0.5 * (apart / reach) ** 2) * (raw[j] / most);
      mass += near;
      first += near * apart;
      second += near * apart * apart;
      level += near * values[j];
      slope += near * apart * values[j];
    }
    const ridge = 1e-9 * reach * reach * mass;
    const determinant = mass * second - first * first + ridge * mass;
    return ((second + ridge) * level - first * slope) / determinant;
  });
}

/** Straight lines between the points in `kept`, including both ends. */
export function interpolateCurve(places, values, kept) {
  const last = values.length - 1;
  const through = [...new Set([0, ...kept, last])].sort((a, b) => a - b);
  let piece = 0;
  return values.map((value, i) => {
    while (piece < through.length - 2 && i >= through[piece + 1]) piece += 1;
    const [left, right] = [through[piece], through[piece + 1]];
    if (i === left || i === right) return value;
    const share = (places[i] - places[left]) / (places[right] - places[left]);
    return values[left] + share * (values[right] - values[left]);
  });
}

/** Shift values so that the weighted mean does not change. */
export function withMeanOf(before, wanted, weights) {
  if (!(total(weights) > 0)) return wanted;
  const gap = weightedMean(wanted.map((value, i) => value - before[i]), weights);
  if (Math.abs(gap) <= 1e-14 * (largest(before) + largest(wanted))) return wanted;
  return wanted.map((value) => value - gap);
}
