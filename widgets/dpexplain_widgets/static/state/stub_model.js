// A model without a kernel, for views in an exported page.

/** A model object with a plain state; changes stay in the page. */
export function stubModel(initial) {
  const state = { ...initial };
  const listeners = new Map();
  return {
    get: (key) => state[key],
    set(key, value) {
      state[key] = value;
      for (const listener of listeners.get(`change:${key}`) ?? []) listener();
    },
    on(event, listener) {
      listeners.set(event, [...(listeners.get(event) ?? []), listener]);
    },
    off(event, listener) {
      listeners.set(event, (listeners.get(event) ?? []).filter((each) => each !== listener));
    },
    save_changes() {},
  };
}
