// Smoothing by splines whose smoothness the curve and its noise say: the twin of dpexplain/edit/splines.py.
import { positiveWeights, weightedMean } from "./edit_kernels.js";

const BEND_COUNT = 10;
const BENDS = Array.from({ length: BEND_COUNT }, (_, i) => 0.05 * 1000 ** (i / (BEND_COUNT - 1)));
const WIDE = 10;
const LEAST_NOISE = 0.01;
const LIMIT = 1.5;

// The lower root of a positive definite matrix.
function choleskyRoot(matrix) {
  const root = matrix.map(() => new Float64Array(matrix.length));
  for (let i = 0; i < matrix.length; i += 1) {
    for (let j = 0; j <= i; j += 1) {
      let rest = matrix[i][j];
      for (let k = 0; k < j; k += 1) rest -= root[i][k] * root[j][k];
      root[i][j] = i === j ? Math.sqrt(rest) : rest / root[j][j];
    }
  }
  return root;
}

function solveLower(root, side) {
  const found = new Float64Array(side.length);
  for (let i = 0; i < side.length; i += 1) {
    let rest = side[i];
    for (let k = 0; k < i; k += 1) rest -= root[i][k] * found[k];
    found[i] = rest / root[i][i];
  }
  return found;
}

function solveUpper(root, side) {
  const found = new Float64Array(side.length);
  for (let i = side.length - 1; i >= 0; i -= 1) {
    let rest = side[i];
    for (let k = i + 1; k < side.length; k += 1) rest -= root[k][i] * found[k];
    found[i] = rest / root[i][i];
  }
  return found;
}

function covariance(x, size, bend, noise) {
  return x.map((here, i) => Float64Array.from(x.slice(0, i + 1), (there, j) => {
    const [near, far] = [Math.min(here, there), Math.max(here, there)];
    const wander = (bend * bend * near * near * (3 * far - near)) / 6;
    return size * size * (WIDE * WIDE * (1 + here * there) + wander) + (i === j ? noise[i] : 0);
  }));
}

function fitted(x, seen, size, bend, noise) {
  const root = choleskyRoot(covariance(x, size, bend, noise));
  const white = solveLower(root, seen);
  const likelihood = white.reduce((sum, value, i) => sum - 0.5 * value * value - Math.log(root[i][i]), 0);
  return { likelihood, move: solveUpper(root, white).map((value, i) => -noise[i] * value) };
}

/** Cubic smoothing splines, averaged by how likely the curve is under each. */
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
