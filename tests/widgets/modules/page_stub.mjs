// What modules need of a page: a frame comes when a test calls `paint()`.
const frames = [];
export const page = { hidden: false };

globalThis.document = { get hidden() { return page.hidden; }, body: { offsetHeight: 0 } };
globalThis.requestAnimationFrame = (callback) => frames.push(callback);
globalThis.cancelAnimationFrame = () => {};

/** Run what waits for the next frame, and what follows it. */
export async function paint() {
  for (const callback of frames.splice(0)) callback();
  await new Promise((done) => setTimeout(done, 5));
}
