// The log of edits as plain values, the form used by files and Python.
import { choose } from "../../state/choosing.js";

const EMPTY_LOG = { entries: [], head: -1, undone: [], checkpoints: [], layout: null };

/**
 * The log of a model object.
 * @param {import("../../types").Model} model
 */
export function logOf(model) {
  return { ...EMPTY_LOG, ...(model.get("edits") ?? {}) };
}

/**
 * Store a log in the model object and notify the kernel once.
 * @param {import("../../types").Model} model
 */
export function keepLog(model, log) {
  choose(model, { edits: log });
}

/** The log with one more edit after the current state, signed or not. */
export function withEdit(log, operation, { who, when }) {
  const entry = { operation, after: log.head, note: "", who, when };
  return { ...log, entries: [...log.entries, entry], head: log.entries.length, undone: [] };
}

/** The log with one edit undone, if there is one. */
export function undone(log) {
  if (log.head < 0) return log;
  return { ...log, head: log.entries[log.head].after, undone: [...log.undone, log.head] };
}

/** The log with the last undone edit redone; unchanged if there is none. */
export function redone(log) {
  if (log.undone.length === 0) return log;
  return { ...log, head: log.undone.at(-1), undone: log.undone.slice(0, -1) };
}

/** A state of the log, by the index of its last edit; -1 has no edits. */
export function checkedOut(log, place) {
  return { ...log, head: place, undone: [] };
}

/** The log with a name for its current state; an older state of that name loses it. */
export function named(log, name) {
  const others = log.checkpoints.filter((checkpoint) => checkpoint.name !== name);
  return { ...log, checkpoints: [...others, { name, place: log.head }] };
}

/** Names of the state at an index. */
export function namesOf(log, place) {
  return log.checkpoints.filter((checkpoint) => checkpoint.place === place).map(({ name }) => name);
}

/** The log with a new note at an index. */
export function withNote(log, place, note) {
  const entries = log.entries.map((entry, i) => (i === place ? { ...entry, note } : entry));
  return { ...log, entries };
}

/** Indices of the edits that lead to a state. */
export function pathTo(log, place = log.head) {
  const places = [];
  for (let at = place; at >= 0; at = log.entries[at].after) places.unshift(at);
  return places;
}

/** The operations of the current state. */
export function operationsOf(log) {
  return pathTo(log).map((place) => log.entries[place].operation);
}
