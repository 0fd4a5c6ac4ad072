// Ranks of terms by importance, at every epsilon.

const knownPlaces = new WeakMap();

/**
 * Indices of the terms that have a rank: all except pairs of features.
 * @param {import("../../types").Payload} payload
 */
export function rankedTerms({ terms }) {
  return terms.map((_, i) => i).filter((i) => terms[i].kind !== "pair");
}

/**
 * Rank of each term in a fit, 1 for the most important; ties are in model order, and pairs of
 * features, which have no rank, come last.
 * @param {import("../../types").Fit} fit
 */
export function placesOf(fit) {
  if (knownPlaces.has(fit)) return knownPlaces.get(fit);
  const isPair = (i) => (fit.terms[i].axes ? 1 : 0);
  const order = fit.terms.map((_, i) => i).sort((a, b) =>
    isPair(a) - isPair(b) || fit.terms[b].importance - fit.terms[a].importance);
  const places = [];
  order.forEach((i, k) => {
    places[i] = k + 1;
  });
  knownPlaces.set(fit, places);
  return places;
}

/**
 * A column for each epsilon, and one for the reference: [{stop, fit, places, isReference}].
 * @param {import("../../types").State} state
 */
export function rankColumns(state) {
  const columns = state.payload.fits.map((row, stop) => {
    const fit = row[Math.min(state.repeat, row.length - 1)];
    return { stop, fit, places: placesOf(fit), isReference: false };
  });
  const { reference } = state;
  if (reference === null) return columns;
  return [...columns, { stop: columns.length, fit: reference, places: placesOf(reference), isReference: true }];
}

/**
 * Maps the ranks in a column to ranks among the listed terms, so that there are no
 * gaps. An end of an interval may be between two listed terms.
 */
export function squeezed(places, listed) {
  const taken = new Set(listed.map((i) => places[i]));
  const before = [0]; // number of listed terms before a rank
  for (let place = 1; place <= places.length; place += 1) {
    before[place] = before[place - 1] + (taken.has(place - 1) ? 1 : 0);
  }
  return (place) => before[place] + (taken.has(place) ? 1 : 0.5);
}

/** A smooth line through points, level at each of them. */
export function bumpPath(points) {
  return points.map(([x, y], i) => {
    if (i === 0) return `M${x} ${y}`;
    const middle = (points[i - 1][0] + x) / 2;
    return `C${middle} ${points[i - 1][1]} ${middle} ${y} ${x} ${y}`;
  }).join("");
}

/** Closed outline between an upper and a lower line. */
export function ribbonPath(upper, lower) {
  return `${bumpPath(upper)}L${bumpPath([...lower].reverse()).slice(1)}Z`;
}

/** Kendall's rank correlation of two lists of ranks without ties. */
export function kendallTau(one, other) {
  let agreeing = 0;
  for (let i = 0; i < one.length; i += 1) {
    for (let j = 0; j < i; j += 1) agreeing += Math.sign((one[i] - one[j]) * (other[i] - other[j]));
  }
  return (2 * agreeing) / (one.length * (one.length - 1));
}
