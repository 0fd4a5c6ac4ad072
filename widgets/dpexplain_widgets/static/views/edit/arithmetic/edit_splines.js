// Smoothing splines with a smoothness chosen from the curve and its noise, as in dpexplain/edit/splines.py.
import { positiveWeights, weightedMean } from "./edit_kernels.js";

const BEND_COUNT = 10;
const BENDS = Array.from({ length: BEND_COUNT }, (_, i) => 0.05 * 1000 ** (i / (BEND_COUNT - 1)));
const WIDE = 10;
const LEAST_NOISE = 0.01;
const LIMIT = 1.5;

// A cubic spline is the path of a value whose slope follows a random walk, so a Kalman filter and
// smoother computes it in one pass over the bins and one back (Durbin and Koopman, Time Series
// Analysis by State Space Methods, 2012, sections 4.3 and 4.4.4). Python inverts the covariance of
// all bins instead; both give the same numbers.
function taken(x, seen, size, bend, noise) {
  const wander = (size * bend) ** 2;
  let [value, slope] = [0, 0];
  // Variances of the value, of the slope, and their covariance.
  let [p, q, r] = [(size * WIDE) ** 2, (size * WIDE) ** 2, 0];
  return x.map((here, i) => {
    const step = i + 1 < x.length ? x[i + 1] - here : 0;
    const [surprise, variance] = [seen[i] - value, p + noise[i]];
    const gain = [p / variance, r / variance];
    value += gain[0] * surprise;
    slope += gain[1] * surprise;
    value += step * slope;
    q -= gain[1] * r;
    [p, r] = [(p * noise[i]) / variance, (r * noise[i]) / variance];
    p += 2 * step * r + step * step * q + (wander * step ** 3) / 3;
    r += step * q + (wander * step ** 2) / 2;
    q += wander * step;
    return { surprise, variance, gain, step };
  });
}

function fitted(x, seen, size, bend, noise) {
  const steps = taken(x, seen, size, bend, noise);
  const likelihood = steps.reduce((sum, { surprise, variance }) =>
    sum - 0.5 * (surprise ** 2 / variance + Math.log(variance)), 0);
  const move = new Float64Array(x.length);
  let [ofValue, ofSlope] = [0, 0];
  for (let i = x.length - 1; i >= 0; i -= 1) {
    const { surprise, variance, gain, step } = steps[i];
    ofSlope += step * ofValue;
    const pull = surprise / variance - gain[0] * ofValue - gain[1] * ofSlope;
    move[i] = -noise[i] * pull;
    ofValue += pull;
  }
  return { likelihood, move };
}

/** Cubic smoothing splines, averaged by their likelihood. */
export function smoothAsNoiseAllows(places, values, weights, std) {
  const weight = positiveWeights(weights);
  const mean = weightedMean(values, weight);
  const seen = values.map((value) => value - mean);
  const size = Math.sqrt(weightedMean(seen.map((value) => value * value), weight));
  if (!(size > 0)) return values.slice();
  const noise = std.map((deviation) => Math.max(deviation, LEAST_NOISE * size) ** 2);
  const x = places.map((place) => (place - places[0]) / (places.at(-1) - places[0]));
  const fits = BENDS.map((bend) => fitted(x, seen, size, bend, noise));
  const most = Math.max(...fits.map((fit) => fit.likelihood));
  const chances = fits.map((fit) => Math.exp(fit.likelihood - most));
  return values.map((value, i) => {
    const move = weightedMean(fits.map((fit) => fit.move[i]), chances);
    return value + Math.max(-LIMIT * std[i], Math.min(LIMIT * std[i], move));
  });
}
