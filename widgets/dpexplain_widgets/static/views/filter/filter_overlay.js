// The explanation of a sample over its picture: the sample in grey, what each pixel contributes in
// the colours of the scale above it.

const GREY_STEPS = 254;

/**
 * How strongly contributions are drawn, how far the sample behind them has faded, and how far what
 * is left out has the colour of the mask.
 */
export function layersAt(opacity) {
  return { strength: Math.min(1, 2 * opacity), fade: opacity, covered: Math.max(0, 2 * opacity - 1) };
}

/** Smallest and largest number of a sample: the ends of its greys. */
export function greyEnds(inputs) {
  return inputs.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)],
    [Infinity, -Infinity]);
}

/**
 * Write contributions over the sample that they are of into the bytes of a picture.
 * `scale.under` is the sample: its inputs, the greys from its smallest to its largest number, and
 * the opacity of what is above it: 0 leaves the sample alone, 1 gives the colours of the scale as
 * they are. Where `outside` is given, what is not outside the noise is not drawn over the sample.
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
