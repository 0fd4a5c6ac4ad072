// Distance between two curves, weighted by the records of the first.

/** Proportions of records per bin; negative counts become 0. */
export function binWeights({ count }) {
  const positive = count.map((each) => Math.max(0, each));
  const total = positive.reduce((sum, each) => sum + each, 0);
  return positive.map((each) => (total > 0 ? each / total : 1 / count.length));
}

/** Index of the bin of a typical record: the median of numbers, or the largest category. */
export function typicalBin({ count, edges, labels, special }) {
  const positive = count.slice(0, labels.length - special.length).map((each) => Math.max(0, each));
  if (edges === null) return positive.indexOf(Math.max(...positive));
  let total = 0;
  const below = positive.map((each) => (total += each));
  return below.findIndex((each) => each >= total / 2);
}

/** Index of the bin of a value; values outside the edges are in the outermost bins. */
export function binOfValue(edges, value) {
  let [low, high] = [0, edges.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (edges[middle] <= value) low = middle;
    else high = middle;
  }
  return low;
}

function refinement(one, other) {
  const [first, last] = [one.edges[0], one.edges.at(-1)];
  const inside = other.edges.map((edge) => Math.max(first, Math.min(last, edge)));
  const edges = Array.from(new Set([...one.edges, ...inside])).sort((a, b) => a - b);
  return edges.slice(1).map((edge, i) => [edges[i], edge]);
}

function numericParts(one, other, weights) {
  const parts = refinement(one, other).map(([left, right]) => {
    const middle = (left + right) / 2;
    const [mine, theirs] = [binOfValue(one.edges, middle), binOfValue(other.edges, middle)];
    const share = (right - left) / (one.edges[mine + 1] - one.edges[mine]);
    const values = { value: one.contribution[mine], other: other.contribution[theirs] };
    return { bin: mine, ...values, weight: weights[mine] * share };
  });
  return [...parts, ...specialParts(one, other, weights)];
}

function specialParts(one, other, weights) {
  return one.special.map((name, k) => {
    const mine = one.labels.length - one.special.length + k;
    const theirs = other.labels.length - other.special.length + other.special.indexOf(name);
    const beside = other.special.includes(name) ? other.contribution[theirs] : 0;
    return { bin: mine, value: one.contribution[mine], other: beside, weight: weights[mine] };
  });
}

function categoryParts(one, other, weights) {
  return one.labels.map((label, i) => {
    const theirs = other.labels.indexOf(label);
    const beside = theirs < 0 ? 0 : other.contribution[theirs];
    return { bin: i, value: one.contribution[i], other: beside, weight: weights[i] };
  });
}

/**
 * Both curves on the common refinement of their bins, with the records of the first spread evenly
 * inside each: [{bin of the first, value, other, weight}].
 */
export function commonParts(one, other) {
  const weights = binWeights(one);
  const numeric = one.edges !== null && other.edges !== null;
  return numeric ? numericParts(one, other, weights) : categoryParts(one, other, weights);
}

// Whether only one of the fits has a pair of features, or they have it on different grids.
function differInGrid(one, other) {
  return one.axes && (one.absent || other.absent || String(one.labels) !== String(other.labels));
}

/**
 * Mean absolute difference of two curves divided by the mean absolute value of the other: 0 for
 * equal curves, 1 if they differ by its size; null if the other is flat, or for a pair of features
 * that is not on the same grid in both.
 */
export function disagreement(one, other) {
  if (differInGrid(one, other)) return null;
  const parts = commonParts(one, other);
  const difference = parts.reduce((sum, { value, other: b, weight }) => sum + weight * Math.abs(value - b), 0);
  const size = parts.reduce((sum, { other: b, weight }) => sum + weight * Math.abs(b), 0);
  return size > 0 ? difference / size : null;
}
