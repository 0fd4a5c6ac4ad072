// Curves that move to another epsilon, so that a reader sees what changes.

const MOTION = { duration: 120, easing: "ease-out" };
const QUICK = 200; // milliseconds between two stops of a reader who scrubs
const MOVING = ["dpx-curve-main", "dpx-band"];

const commandsOf = (path) => path.replace(/[^A-Za-z]/g, "");

/**
 * A function to call after each drawing of a curve: it animates the move to another epsilon, but not while a reader
 * scrubs through many.
 */
export function epsilonMotion() {
  let last = null;
  return ({ stop, termIndex }, before, after) => {
    const now = performance.now();
    const follows = before !== null && last?.termIndex === termIndex && last.stop !== stop && now - last.time > QUICK;
    last = { stop, termIndex, time: last?.stop === stop ? last.time : now };
    if (follows) moveFrom(before, after);
  };
}

// The curve and the band of a new picture start where they were in the previous one.
function moveFrom(before, after) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  for (const kind of MOVING) {
    const now = after.querySelector(`path.${kind}`);
    const [from, to] = [before.querySelector(`path.${kind}`), now].map((path) => path?.getAttribute("d") ?? "");
    if (now === null || from === to || commandsOf(from) !== commandsOf(to)) continue;
    now.animate([{ d: `path("${from}")` }, { d: `path("${to}")` }], MOTION);
  }
}
