// Types of values that modules exchange, for the type checker only; not imported at run time.

/** The part of an anywidget model that views use; a page without a kernel has a stub. */
export interface Model {
  get(key: string): any;
  set(key: string, value: any): void;
  on(event: string, listener: (...args: any[]) => void): void;
  off?(event: string, listener: (...args: any[]) => void): void;
  save_changes(): void;
}

export interface Guarantee {
  epsilon: number | "inf";
  delta: number;
  adjacency: string;
  private: boolean;
  short: string;
  statement: string;
  [more: string]: any;
}

/** A term of one fit; lists hold a number for each bin, special bins last. */
export interface TermFit {
  edges: number[] | null;
  labels: string[];
  special: string[];
  contribution: number[];
  count: number[];
  noise_std: number[] | null;
  structure_std: number[] | null;
  sampling_std: number[] | null;
  total_std: number[] | null;
  bag_std: number[] | null;
  effect: number[] | null;
  effect_std: number[] | null;
  effect_factor: number | null;
  effect_signal: boolean[] | null;
  /** Mean size of the effect in the population, its standard deviation, and whether it is certain. */
  effect_size: number | null;
  effect_size_std: number | null;
  has_effect: boolean | null;
  effect_remark?: string;
  effect_warns?: boolean;
  recovered: number[] | null;
  band_factor: number;
  stretch: number;
  signal: boolean[] | null;
  noise_floor: number | null;
  importance: number;
  directions: string | null;
  above_noise: boolean | null;
  ranks: [number, number] | null;
  claims?: ClaimPart | null;
  /** Rows and columns of a pair of features, whose bins are cells, row by row. */
  axes?: [PairAxis, PairAxis];
  /** Whether only other models have this pair; all its numbers are then zero. */
  absent?: boolean;
  /** Whether the curve was edited on the page, so that its noise is not known. */
  edited?: boolean;
}

/** Data for claims about a term: half-widths in standard deviations, and a letter for each contrast. */
export interface ClaimPart {
  basis: "effect" | "noise";
  /** The others are absent for a pair of features. */
  difference?: number;
  range?: number;
  sign?: number;
  extreme?: number;
  pairs?: string | null;
  ranges?: string | null;
}

/** The question of a claim, about bins of the chosen term or the values of a record. */
export interface Question {
  kind: "difference" | "range" | "ranges" | "sign" | "highest" | "lowest" | "rank" | "decision";
  /** Two bins, first and last bin of one range or two, one bin, or none; for a pair, the corners of its regions. */
  bins: number[];
  values?: any[];
  threshold?: number | null;
}

export interface Claim {
  estimate: number;
  std: number;
  low: number;
  high: number;
  basis: "effect" | "noise";
  holds: boolean;
  /** Bins that can be the extreme. */
  candidates?: number[];
  /** The predicted class and the one that may come closest, for several classes. */
  first?: number;
  second?: number;
}

/** The bins of one feature of a pair. */
export interface PairAxis {
  name: string;
  kind: "numeric" | "categorical";
  unit: string;
  is_date: boolean;
  step: number | null;
  edges: number[] | null;
  labels: string[];
  special: string[];
  axes?: undefined;
}

export interface Fit {
  epsilon: number | "inf";
  guarantee: Guarantee;
  metrics: Record<string, number>;
  intercept: number;
  intercept_std: number | null;
  /** Data for claims about decisions: the half-width, and a letter for each pair of parts of a score. */
  claims?: { factor: number; together: string | null } | null;
  noise_words: string;
  noise_share: number | null;
  effect_words?: string;
  effect_remark?: string;
  /** Alarms of the health check of the fit, which point to mistakes in the table. */
  alarms?: string[];
  terms_above_noise: number | null;
  terms: TermFit[];
}

export interface Term {
  name: string;
  kind: "numeric" | "categorical" | "pair";
  ordered: boolean;
  unit: string;
  /** Whether numbers are days since 1970. */
  is_date: boolean;
  step: number | null;
  description: string;
}

/** What Python sends: `fits` by epsilon, then repeat. */
export interface Payload {
  version: number;
  title: string;
  name: string;
  link: string;
  score_unit: string;
  /** `by_class`: the models of the payload are the classes of one model. */
  target: { name: string; unit: string; classes: string[] | null; shown_class: string; by_class?: boolean };
  terms: Term[];
  epsilons: number[];
  fits: Fit[][];
  reference: Fit | null;
  ledger: any;
  guarantee_words: string[];
  samples: any;
  others: Payload[];
  filters: any;
  main_effects_only: boolean;
}

/** The choices, limited to those that the payload allows. */
export interface State {
  payload: Payload;
  models: Payload[];
  samples: any;
  other: Fit | null;
  otherStop: number;
  otherName?: string;
  otherEpsilon?: number;
  stop: number;
  stopCount: number;
  atReference: boolean;
  referenceShown: boolean;
  reference: Fit | null;
  fits: Fit[];
  /** The edited fit of a class, if edits are shown. */
  editedOf?: (payload: Payload, fit: Fit) => Fit;
  repeat: number;
  /** "both", "released" or "effect". */
  shownCurve: string;
  fit: Fit | undefined;
  pinnedStop: number;
  pinned: Fit | null;
  termIndex: number;
  term: Term | undefined;
  binIndex: number | null;
  secondBin: number | null;
  /** Whether the question is about the place of an extreme. */
  extreme: "" | "highest" | "lowest";
  secondRange: [number, number] | null;
  binRange: [number, number] | null;
}
