// What is chosen, read from a model with get, set, on and save_changes. Linked models can hold a
// choice that this payload does not have, so every read is brought back into range.

export const CHOICE_KEYS = [
  "payload",
  "epsilon_index",
  "term",
  "bin_index",
  "pinned_epsilon",
  "show_reference",
  "repeat",
];

function clampIndex(value, count) {
  return Math.max(0, Math.min(count - 1, Number.isInteger(value) ? value : 0));
}

function chosenFits(payload, stop) {
  if (payload.fits.length === 0 && payload.reference === null) return [];
  return stop < payload.fits.length ? payload.fits[stop] : [payload.reference];
}

// Fits of one repeat share their random structure, so they are the ones to compare.
function sameRepeat(fits, repeat) {
  return fits === undefined ? null : fits[Math.min(repeat, fits.length - 1)];
}

/** Everything a view draws from: the payload and the choices within it. */
export function readState(model) {
  const payload = model.get("payload");
  const { epsilons, reference, terms } = payload;
  const referenceShown =
    reference !== null && (model.get("show_reference") || epsilons.length === 0);
  const stopCount = epsilons.length + (referenceShown ? 1 : 0);
  const stop = clampIndex(model.get("epsilon_index"), stopCount);
  const fits = chosenFits(payload, stop);
  const repeat = clampIndex(model.get("repeat"), fits.length);
  const pinnedStop = epsilons.indexOf(model.get("pinned_epsilon"));
  const termIndex = Math.max(0, terms.findIndex((term) => term.name === model.get("term")));
  return {
    payload,
    stop,
    stopCount,
    atReference: stop >= epsilons.length,
    referenceShown,
    reference: referenceShown ? reference : null,
    fits,
    repeat,
    fit: fits[repeat],
    pinnedStop,
    pinned: pinnedStop === stop ? null : sameRepeat(payload.fits[pinnedStop], repeat),
    termIndex,
    term: terms[termIndex],
    binIndex: model.get("bin_index"),
  };
}

/** The chosen bin of a term with `count` bins, or null. */
export function chosenBin(state, count) {
  const index = state.binIndex;
  return Number.isInteger(index) && index >= 0 && index < count ? index : null;
}

/** Set several choices and tell the kernel once, if there is one. */
export function choose(model, choices) {
  for (const [key, value] of Object.entries(choices)) model.set(key, value);
  model.save_changes();
}

/** Show or hide the reference; its own stop on the scale goes with it. */
export function toggleReference(model) {
  const state = readState(model);
  if (state.payload.reference === null || state.payload.epsilons.length === 0) return;
  const shown = !state.referenceShown;
  const choices = { show_reference: shown };
  if (!shown && state.atReference) choices.epsilon_index = state.payload.epsilons.length - 1;
  choose(model, choices);
}

/** Choose a term; the chosen bin belonged to the one before. */
export function chooseTerm(model, name) {
  if (readState(model).term?.name === name) return;
  choose(model, { term: name, bin_index: null });
}

/**
 * Draw once after each burst of changes, before the browser paints. Returns a function that
 * stops it.
 */
export function drawOnChange(model, keys, draw) {
  let live = true;
  let waiting = false;
  const schedule = () => {
    if (waiting) return;
    waiting = true;
    queueMicrotask(() => {
      waiting = false;
      if (live) draw();
    });
  };
  for (const key of keys) model.on(`change:${key}`, schedule);
  return () => {
    live = false;
    for (const key of keys) model.off?.(`change:${key}`, schedule);
  };
}
