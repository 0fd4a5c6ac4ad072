// Places of terms by importance, at every epsilon.

/** Place of each term in a fit, 1 for the most important; ties stand in model order. */
export function placesOf(fit) {
  const order = fit.terms.map((_, i) => i).sort((a, b) => fit.terms[b].importance - fit.terms[a].importance);
  const places = [];
  order.forEach((i, k) => {
    places[i] = k + 1;
  });
  return places;
}

/** A column for each epsilon, and the reference apart: [{stop, fit, places, isReference}]. */
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
 * Places among the listed terms only, so that a list that is searched has no gaps: from the
 * places in a column to 1, 2, 3 …; an interval may lie between two listed terms.
 */
export function squeezed(places, listed) {
  const sorted = listed.map((i) => places[i]).sort((a, b) => a - b);
  return (place) => {
    const before = sorted.filter((each) => each < place).length;
    return sorted.includes(place) ? before + 1 : before + 0.5;
  };
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
