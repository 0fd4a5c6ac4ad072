// Colors of a heat map: seven levels, each labeled with a number or a word.

/** Lower ends of the levels; in the last, a curve differs by at least its size. */
export const LEVELS = [0, 0.05, 0.15, 0.3, 0.5, 0.75, 1];

/** Level of a ratio, from 0 to 6. */
export function heatLevel(share) {
  let level = 0;
  while (level < LEVELS.length - 1 && share >= LEVELS[level + 1]) level += 1;
  return level;
}

/** A ratio as shown in a cell: integer percent, with the percent sign in the legend. */
export function heatText(share) {
  if (share === null) return "–";
  if (share >= 10) return `${Math.round(share)}×`;
  return String(Math.round(100 * share));
}

/** The range of a level, in words. */
export function levelWords(level) {
  const low = Math.round(100 * LEVELS[level]);
  if (level === LEVELS.length - 1) return "100% or more";
  return `${low} to ${Math.round(100 * LEVELS[level + 1])}%`;
}
