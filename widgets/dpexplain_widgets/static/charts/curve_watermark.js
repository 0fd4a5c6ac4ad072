// The watermark of a chart of step curves, where no curve is.
import { splitSpecial } from "./bins.js";
import { axisTerms, watermarkText } from "./curves.js";
import { curveObstacles, watermark } from "./watermark.js";

let lastMark = { ground: [], mark: null };

function groundOfMark({ state, font, options }, layout, frame) {
  const { payload, termIndex, reference, other, shownCurve, stop, pinned, fits, fit } = state;
  const released = payload.fits[stop] === fits || state.atReference;
  const varying = options.everyEpsilon && released ? [] : [fit, pinned];
  const place = [layout.even, layout.y(0), layout.y(1), ...Object.values(frame)];
  return [payload, termIndex, reference, other, shownCurve, font, options.everyEpsilon, ...place, ...varying];
}

/** The watermark where no curve is. On an axis that stays the same at every epsilon, it is placed once. */
export function watermarkOver({ state, font, options }, layout, frame) {
  const words = watermarkText(state);
  if (words === null) return null;
  const ground = [words, ...groundOfMark({ state, font, options }, layout, frame)];
  if (ground.length !== lastMark.ground.length || ground.some((each, i) => each !== lastMark.ground[i])) {
    lastMark = { ground, mark: watermarkApart(words, { state, font, options }, layout, frame) };
  }
  return lastMark.mark.cloneNode(true);
}

function watermarkApart(words, { state, font, options }, layout, frame) {
  const place = (position) => position;
  const slots = layout.columns.slice(layout.columns.length - layout.termFit.special.length);
  const obstacles = axisTerms(state, options.everyEpsilon).flatMap((termFit) => {
    const { ordinary, special } = splitSpecial(termFit, termFit.contribution);
    const dashes = slots.flatMap((slot, i) => curveObstacles(slot, special.slice(i, i + 1), place, layout.y));
    return [...curveObstacles(termFit.edges, ordinary, layout.x, layout.y), ...dashes];
  });
  return watermark(words, frame, font, obstacles);
}
