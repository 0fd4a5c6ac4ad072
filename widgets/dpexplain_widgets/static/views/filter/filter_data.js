// Decodes filters from binary arrays and computes the maps that are drawn.

const ARRAY_TYPES = { i1: Int8Array, i2: Int16Array, u1: Uint8Array, u2: Uint16Array, f4: Float32Array };

/** Standard deviations of privacy noise within which a weight may be noise. */
export const NOISE_BAND = 2;

/** The bytes of a view, aligned for numbers of any type. */
export function alignedBuffer(view) {
  if (view === undefined || view === null) return { buffer: new ArrayBuffer(0), start: 0 };
  const start = view.byteOffset ?? 0;
  const buffer = view.buffer ?? view;
  return start % 4 === 0 ? { buffer, start } : { buffer: buffer.slice(start, start + view.byteLength), start: 0 };
}

/** Whether each value lies outside the band of its noise, from deviations or from ratios. */
function outsideOf(values, std, ratios) {
  if (ratios !== null) return Uint8Array.from(ratios, (ratio) => (ratio > NOISE_BAND ? 1 : 0));
  if (std === null) return null;
  return Uint8Array.from(values, (value, i) => (Math.abs(value) > NOISE_BAND * std[i] ? 1 : 0));
}

/** A map of the inputs: values and, if the noise is known, which are outside it. */
export function noisyMap(values, std, ratios = null) {
  return { values, std, ratios, outside: outsideOf(values, std, ratios) };
}

/** A weight in standard deviations of its noise; null if unknown. */
export function ratioAt(map, i) {
  if (map.ratios !== null) return map.ratios[i];
  if (map.std === null) return null;
  if (map.std[i] > 0) return Math.abs(map.values[i]) / map.std[i];
  return map.values[i] === 0 ? 0 : Infinity;
}

/** Sums of the values of a map: positive, negative, all, outside the noise. */
export function sumsOf({ values, outside }) {
  const sums = { positive: 0, negative: 0, total: 0, standing: outside === null ? null : 0 };
  values.forEach((value, i) => {
    sums[value < 0 ? "negative" : "positive"] += value;
    if (outside !== null && outside[i] === 1) sums.standing += value;
  });
  sums.total = sums.positive + sums.negative;
  return sums;
}

/** Proportion of values outside the noise; null if unknown. */
export function shareOutside(map) {
  if (map.outside === null) return null;
  return map.outside.reduce((sum, each) => sum + each, 0) / map.outside.length;
}

function difference(left, right) {
  return left.map((value, i) => value - right[i]);
}

function added(left, right) {
  return left === null ? null : left.map((value, i) => Math.hypot(value, right[i]));
}

function times(values, factors) {
  return values === null ? null : values.map((value, i) => value * factors[i]);
}

// Single filters on a grid are rounded to multiples of a step.
function roundingOf({ arrays }) {
  return arrays.filter.type === "f4" ? 0 : arrays.filter.step;
}

// A map whose values may be off by `slack`, which is subtracted before they are compared with the noise.
function roundedMap(values, std, slack) {
  if (std === null) return noisyMap(values, null);
  const ratios = values.map((value, i) => {
    const size = Math.max(0, Math.abs(value) - slack);
    return size === 0 ? 0 : size / std[i];
  });
  return noisyMap(values, std, ratios);
}

/** The filters of a payload, of all fits. */
export class FilterData {
  constructor(outline, bytes) {
    this.outline = outline;
    this.memory = alignedBuffer(bytes);
    this.nInputs = outline.input_names.length;
    this.nFilters = outline.n_filters;
    this.nClasses = outline.classes.length;
    this.limits = new WeakMap(); // of each fit, by choice
  }

  /** Numbers `from` to `from + size` of an array of a fit, as floats; null if it does not exist. */
  part(fit, name, from, size) {
    const index = fit.arrays[name];
    return index === undefined ? null : this.numbers(index, from, size);
  }

  numbers({ at, type, step }, from, size) {
    const Type = ARRAY_TYPES[type];
    const place = this.memory.start + at + from * Type.BYTES_PER_ELEMENT;
    const whole = new Type(this.memory.buffer, place, size);
    const found = new Float32Array(size);
    for (let i = 0; i < size; i += 1) found[i] = whole[i] * step; // Float32Array.from takes ten times as long
    return found;
  }

  /**
   * Noise in the mean of a region: what each coefficient adds to it, and the variance for the sum of the filters of
   * each class; null if unknown.
   */
  regionNoise(fit, loads) {
    const { class_variance: variance, noise_rows: rows } = fit.arrays;
    if (variance === undefined) return null;
    const count = variance.size / this.nClasses;
    const seen = rows === undefined ? loads : this.times(rows, loads, count);
    const classes = this.outline.classes.map((_, k) =>
      this.numbers(variance, k * count, count).reduce((sum, each, c) => sum + each * seen[c] ** 2, 0));
    return { seen, classes };
  }

  /** Mean of a region of one filter or, minus another, of two, and its error. */
  regionOfFilter(fit, loads, { seen, classes }, { one, other }) {
    const index = fit.arrays.filter_variance;
    const n = this.nClasses * this.nFilters;
    const count = index.size / n;
    const varianceOf = ([k, m]) => {
      const start = index.starts[k][m];
      return this.numbers(index, (k * this.nFilters + m) * count, count)
        .reduce((sum, each, c) => sum + each * seen[start + c] ** 2, 0);
    };
    const meanOf = ([k, m]) => this.ofClass(fit, "filter", k * this.nFilters + m)
      .reduce((sum, each, i) => sum + loads[i] * each, 0);
    const step = roundingOf(fit);
    if (other !== null) {
      return [meanOf(one) - meanOf(other), Math.sqrt(varianceOf(one) + varianceOf(other)) + step];
    }
    const all = classes.reduce((sum, each) => sum + each, 0); // of their common mean, which is removed
    return [meanOf(one), Math.sqrt(varianceOf(one) * (1 - 2 / n) + all / n ** 2) + step / 2];
  }

  times(rows, loads, count) {
    const [n, all] = [loads.length, this.numbers(rows, 0, rows.size)];
    const used = loads.flatMap((load, i) => (load === 0 ? [] : [i]));
    return Array.from({ length: count }, (_, c) => used.reduce((sum, i) => sum + loads[i] * all[c * n + i], 0));
  }

  ofClass(fit, name, k) {
    return this.part(fit, name, k * this.nInputs, this.nInputs);
  }

  mean(fit, k) {
    return noisyMap(this.ofClass(fit, "mean", k), this.ofClass(fit, "mean_std", k));
  }

  /** Mean filter of one class minus that of another; noise of two classes is independent. */
  contrast(fit, a, b) {
    const values = difference(this.ofClass(fit, "mean", a), this.ofClass(fit, "mean", b));
    return noisyMap(values, added(this.ofClass(fit, "own_std", a), this.ofClass(fit, "own_std", b)));
  }

  filter(fit, k, m) {
    const row = k * this.nFilters + m;
    const read = (name) => this.ofClass(fit, name, row);
    return noisyMap(read("filter"), read("filter_std"), read("filter_ratio"));
  }

  /** A filter minus another; the noise of two filters is independent. */
  filterContrast(fit, [k, m], [against, minus]) {
    const [one, other] = [this.filter(fit, k, m), this.filter(fit, against, minus)];
    const values = difference(one.values, other.values);
    if (one.std === null) return noisyMap(values, null);
    // The noise of their common mean, which is part of both deviations, cancels.
    const n = this.nClasses * this.nFilters;
    const own = this.outline.classes.map((_, place) => this.ofClass(fit, "own_std", place));
    const std = one.std.map((each, i) => {
      const sum = own.reduce((total, part) => total + (part[i] * this.nFilters) ** 2, 0);
      if (n === 2) return Math.sqrt(sum);
      const both = each ** 2 + other.std[i] ** 2 - (2 * sum) / n ** 2;
      return Math.sqrt(Math.max(0, both) / (1 - 2 / n));
    });
    return roundedMap(values, std, roundingOf(fit));
  }

  /** The map of one fit minus the same map of another, whose noise is independent. */
  changeOf(fits, choice, k) {
    const [one, other] = fits.map((fit) => this.map(fit, choice, k));
    const std = one.std === null ? other.std : other.std === null ? one.std : added(one.std, other.std);
    const steps = choice.kind === "filter" ? roundingOf(fits[0]) + roundingOf(fits[1]) : 0;
    const slack = choice.minus === null ? steps / 2 : steps;
    return roundedMap(difference(one.values, other.values), std, slack);
  }

  /** The map drawn for class `k`: its mean, one filter, or its contrast with another class or filter. */
  map(fit, { kind, against, m, minus }, k) {
    if (kind === "filter") {
      const alone = minus === null || (against === k && minus === m);
      return alone ? this.filter(fit, k, m) : this.filterContrast(fit, [k, m], [against, minus]);
    }
    return kind === "contrast" && against !== k ? this.contrast(fit, k, against) : this.mean(fit, k);
  }

  /** Value at the ends of a color scale for the maps of some fits. */
  limit(fits, choice) {
    if (choice.kind !== "contrast" && choice.minus === null) {
      return Math.max(...fits.map((fit) => fit.limits[choice.kind]));
    }
    return Math.max(...fits.map((fit) => this.differenceLimit(fit, choice))) || 1;
  }

  // Takes the differences of all classes, which scrubbing does not change.
  differenceLimit(fit, choice) {
    const known = this.limits.get(fit) ?? new Map();
    const key = JSON.stringify(choice);
    if (!known.has(key)) {
      const maps = this.outline.classes.map((_, k) => this.map(fit, choice, k).values);
      const largest = (values) => values.reduce((top, each) => Math.max(top, Math.abs(each)), 0);
      known.set(key, Math.max(...maps.map(largest)));
      this.limits.set(fit, known);
    }
    return known.get(key);
  }

  /** Indices of the filters of a class, highest signal-to-noise first if requested and known. */
  order(fit, k, sorted) {
    const places = Array.from({ length: this.nFilters }, (_, m) => m);
    const ratios = fit.signal_to_noise?.[k];
    if (sorted && ratios) places.sort((a, b) => ratios[b] - ratios[a] || a - b);
    return places;
  }

  inputsOf(n) {
    return this.numbers(this.outline.inputs, n * this.nInputs, this.nInputs);
  }

  /** Scores, probabilities and shares of the filters for sample `n`. */
  sample(fit, n) {
    const scores = this.part(fit, "scores", n * this.nClasses, this.nClasses);
    const top = Math.max(...scores);
    const powers = Array.from(scores, (score) => Math.exp(score - top));
    const total = powers.reduce((sum, power) => sum + power, 0);
    const rows = this.nClasses * this.nFilters;
    return {
      scores,
      probabilities: powers.map((power) => power / total),
      shares: this.part(fit, "shares", n * rows, rows),
      biasPart: this.part(fit, "bias_part", n * this.nClasses, this.nClasses),
      leadCertainty: this.part(fit, "lead_certainty", n, 1)?.[0] ?? null,
    };
  }

  /** Contributions of the inputs of sample `n` to the score of a class. */
  contributions(fit, n, k) {
    const inputs = this.inputsOf(n);
    const read = (name) => this.ofClass(fit, name, n * this.nClasses + k);
    const std = times(read("weighted_std"), inputs.map(Math.abs));
    return noisyMap(times(read("weighted"), inputs), std);
  }

  /** Contributions to the score of class `a` minus those to the score of class `b`. */
  contrastOfSample(fit, n, a, b) {
    const inputs = this.inputsOf(n);
    const read = (name, k) => this.ofClass(fit, name, n * this.nClasses + k);
    const values = times(difference(read("weighted", a), read("weighted", b)), inputs);
    const own = added(read("own_weighted_std", a), read("own_weighted_std", b));
    return noisyMap(values, times(own, inputs.map(Math.abs)));
  }
}

/** Indices of classes, most probable first. */
export function rankedClasses(probabilities) {
  const order = probabilities.map((_, k) => k);
  return order.sort((a, b) => probabilities[b] - probabilities[a] || a - b);
}

/** Effective number of filters in a score: 1 / sum of squared shares. */
export function activeFilters(shares) {
  return 1 / shares.reduce((sum, share) => sum + share * share, 0);
}
