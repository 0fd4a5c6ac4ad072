// The explanation of a sample drawn on its picture: the sample in gray, and the contribution of
// each pixel in color on top.

const GREY_STEPS = 254;

/**
 * Opacity of the contributions, fading of the sample below them, and strength of the mask color
 * of omitted pixels.
 */
export function layersAt(opacity) {
  return { strength: Math.min(1, 2 * opacity), fade: opacity, covered: Math.max(0, 2 * opacity - 1) };
}

/** Smallest and largest number of a sample: the ends of its gray scale. */
export function greyEnds(inputs) {
  return inputs.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)],
    [Infinity, -Infinity]);
}

/**
 * Write contributions, drawn over their sample, into the bytes of a picture. `scale.under` is the
 * sample: its inputs, the grays from its smallest to its largest number, and the opacity of the
 * contributions: 0 shows the sample alone, 1 the colors of the scale. If `outside` is given,
 * contributions inside the noise are not drawn over the sample.
 */
export function paintOverlay(bytes, { values, outside }, scale) {
  const { places, limit, table, mask, under } = scale;
  const { strength, fade, covered } = layersAt(under.opacity);
  const [low, high] = greyEnds(under.inputs);
  const step = high > low ? GREY_STEPS / (high - low) : 0;
  for (let i = 0; i < values.length; i += 1) {
    const hidden = outside !== null && outside !== undefined && outside[i] === 0;
    const grey = 4 * Math.round((under.inputs[i] - low) * step);
    const sign = values[i] < 0 ? 0 : 4 * GREY_STEPS;
    const size = hidden ? 0 : strength * Math.min(1, Math.abs(values[i]) / limit);
    for (let c = 0; c < 3; c += 1) {
      const zero = table[2 * GREY_STEPS + c];
      const ground = hidden ? zero + covered * (mask[c] - zero) : zero;
      const below = under.greys[grey + c] + fade * (ground - under.greys[grey + c]);
      bytes[4 * places[i] + c] = Math.round(below + size * (table[sign + c] - below));
    }
    bytes[4 * places[i] + 3] = 255;
  }
}
