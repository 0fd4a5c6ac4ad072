// The log of edits as plain values: the form that files and Python have.

const EMPTY_LOG = { entries: [], head: -1, undone: [], checkpoints: [], layout: null };

/**
 * The log that a model object holds.
 * @param {import("../../types").Model} model
 */
export function logOf(model) {
  return { ...EMPTY_LOG, ...(model.get("edits") ?? {}) };
}

/**
 * Put a log into the model object, and tell the kernel once.
 * @param {import("../../types").Model} model
 */
export function keepLog(model, log) {
  model.set("edits", log);
  model.save_changes();
}

/** A log with one more edit after the current state, signed or not. */
export function withEdit(log, operation, { who, when }) {
  const entry = { operation, after: log.head, note: "", who, when };
  return { ...log, entries: [...log.entries, entry], head: log.entries.length, undone: [] };
}

/** One edit back; the same log where there is none. */
export function undone(log) {
  if (log.head < 0) return log;
  return { ...log, head: log.entries[log.head].after, undone: [...log.undone, log.head] };
}

/** What was undone last, done again; the same log where there is nothing. */
export function redone(log) {
  if (log.undone.length === 0) return log;
  return { ...log, head: log.undone.at(-1), undone: log.undone.slice(0, -1) };
}

/** Any state of the log, by the place of its last edit; -1 is what was released. */
export function checkedOut(log, place) {
  return { ...log, head: place, undone: [] };
}

/** A log whose current state has a name; an older state of that name loses it. */
export function named(log, name) {
  const others = log.checkpoints.filter((checkpoint) => checkpoint.name !== name);
  return { ...log, checkpoints: [...others, { name, place: log.head }] };
}

/** Names of the state at a place. */
export function namesOf(log, place) {
  return log.checkpoints.filter((checkpoint) => checkpoint.place === place).map(({ name }) => name);
}

/** A log with another note at a place. */
export function withNote(log, place, note) {
  const entries = log.entries.map((entry, i) => (i === place ? { ...entry, note } : entry));
  return { ...log, entries };
}

/** Places of the edits that lead to a state. */
export function pathTo(log, place = log.head) {
  const places = [];
  for (let at = place; at >= 0; at = log.entries[at].after) places.unshift(at);
  return places;
}

/** The operations of the current state. */
export function operationsOf(log) {
  return pathTo(log).map((place) => log.entries[place].operation);
}
