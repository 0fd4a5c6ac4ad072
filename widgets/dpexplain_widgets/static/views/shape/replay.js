// Simulated noise: the curve as another run could have released it. Draws use only released
// numbers, so they have no privacy cost; the same seed gives the same draw.

/** Independent uniform numbers in (0, 1] from an integer seed (mulberry32). */
export function uniforms(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (((mixed ^ (mixed >>> 14)) >>> 0) + 1) / 4294967296;
  };
}

function normals(seed) {
  const uniform = uniforms(seed);
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}

/** Joint error directions of a curve, in standard deviations of each bin: [[per bin]]. */
export function directionsOf({ directions, labels }) {
  if (!directions) return [];
  const steps = Int8Array.from(directions, (letter) => letter.charCodeAt(0) - 63);
  const count = Math.floor(steps.length / labels.length);
  return Array.from({ length: count }, (_, k) =>
    Array.from(steps.subarray(k * labels.length, (k + 1) * labels.length), (step) => step / 14));
}

/**
 * A draw of the errors of a curve; null if there is no noise.
 * @param {import("../../types").TermFit} termFit
 */
export function drawnErrors(termFit, draw, place = 0) {
  if (!termFit.total_std) return null;
  const normal = normals(draw * 7919 + place * 104729 + 1);
  const directions = directionsOf(termFit);
  const common = directions.map(normal);
  return termFit.total_std.map((std, i) => {
    const together = directions.reduce((sum, row, k) => sum + row[i] * common[k], 0);
    const kept = directions.reduce((sum, row) => sum + row[i] ** 2, 0);
    return std * (together + Math.sqrt(Math.max(0, 1 - kept)) * normal());
  });
}

/**
 * The curve plus a draw of its noise; null if there is no noise.
 * @param {import("../../types").TermFit} termFit
 */
export function replayedCurve(termFit, draw, place = 0) {
  const errors = drawnErrors(termFit, draw, place);
  return errors === null ? null : termFit.contribution.map((value, i) => value + errors[i]);
}
