// Numbers of maps as tables, for reading, copying and export.
import { ratioAt } from "./filter_data.js";
import { readingOf } from "./filter_words.js";
import { formatNumber, formatSigned, shortName } from "../../kit/format.js";
import { plainTable } from "../../kit/table.js";

function noiseCells(map, i) {
  if (map.outside === null) return [];
  return [formatNumber(ratioAt(map, i), 2), map.outside[i] ? "above noise" : "may be noise"];
}

const NOISE_HEADS = ["noise standard deviations", "mark"];

/** Every weight of a map. */
export function weightsTable({ outline }, map) {
  const heads = ["input", "weight", ...(map.outside === null ? [] : NOISE_HEADS)];
  const rows = Array.from(map.values, (value, i) =>
    [shortName(outline.input_names[i], 80), formatSigned(value, 3), ...noiseCells(map, i)]);
  return plainTable(heads, rows);
}

/** Contribution of each input of a sample to the score of the chosen class, then that score. */
export function contributionTable({ outline }, { inputs, own }) {
  const { map, sum } = own;
  const noise = map.outside === null ? [] : NOISE_HEADS;
  const rows = Array.from(map.values, (value, i) => [
    shortName(outline.input_names[i], 80), readingOf(outline, inputs, i), formatSigned(value, 4),
    ...noiseCells(map, i),
  ]);
  const ends = [["bias", sum.rest], ["score", sum.score]];
  for (const [name, value] of ends) rows.push([name, "", formatSigned(value, 4), ...noise.map(() => "")]);
  return plainTable(["input", "sample", "contribution", ...noise], rows);
}
