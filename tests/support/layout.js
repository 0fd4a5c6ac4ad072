// What a person would notice on a page of views: labels that are cut, that touch or are small.
// A function of the selector of texts that are shortened on purpose.
(shortened) => {
  const problems = [];
  const box = (element) => element.getBoundingClientRect();
  const words = (element) => element.textContent.slice(0, 40);
  const root = document.querySelector(".dpx");
  const frame = box(root);

  for (const picture of root.querySelectorAll("svg.dpx-svg")) {
    const outer = box(picture);
    if (outer.width === 0) continue;
    const labels = Array.from(picture.querySelectorAll("text:not(.dpx-watermark)"));
    const boxes = labels.map(box);
    labels.forEach((label, i) => {
      const b = boxes[i];
      const cut = b.left < outer.left - 1 || b.right > outer.right + 1 ||
        b.top < outer.top - 1 || b.bottom > outer.bottom + 1;
      if (cut) problems.push(`cut: ${words(label)}`);
      for (let j = 0; j < i; j += 1) {
        const over = Math.min(b.right, boxes[j].right) - Math.max(b.left, boxes[j].left);
        const down = Math.min(b.bottom, boxes[j].bottom) - Math.max(b.top, boxes[j].top);
        if (over > 1 && down > 3) problems.push(`overlap: ${words(label)} / ${words(labels[j])}`);
      }
    });
  }

  // Bars in the list of terms are stretched by the style sheet; all else is drawn to a width.
  for (const picture of document.querySelectorAll(".dpx svg.dpx-svg:not(.dpx-term-bar)")) {
    const parent = picture.parentElement;
    const style = getComputedStyle(parent);
    const room = parent.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    const drawn = box(picture).width;
    if (room > 0 && Math.abs(drawn - room) > 1.5) problems.push(`width: ${drawn} in ${room}`);
  }

  for (const wide of root.querySelectorAll(".dpx-ledger .dpx-table-box")) {
    if (wide.scrollWidth > wide.clientWidth + 1) problems.push(`cut table: ${words(wide)}`);
  }

  for (const element of root.querySelectorAll("*")) {
    const style = getComputedStyle(element);
    const own = Array.from(element.childNodes).some((n) => n.nodeType === 3 && n.data.trim());
    const unseen = "[hidden], style, title, option, details:not([open]) > *:not(summary)";
    if (!own || element.closest(unseen)) continue;
    if (parseFloat(style.fontSize) < 12) problems.push(`small: ${words(element)}`);
    if (element.closest(shortened) || element.closest("svg")) continue;
    const b = box(element);
    const scrolls = ".dpx-table-box, .dpx-heat";
    const outside = b.left < frame.left - 1 || b.right > frame.right + 1;
    if (outside && !element.closest(scrolls)) problems.push(`outside: ${words(element)}`);
    if (element.scrollWidth > element.clientWidth + 1 && style.overflowX === "hidden") {
      problems.push(`clipped: ${words(element)}`);
    }
  }
  const rows = Array.from(root.querySelectorAll(".dpx-term"), box);
  rows.forEach((row, i) => {
    if (i > 0 && row.top < rows[i - 1].bottom - 0.5) problems.push(`overlap of terms at row ${i}`);
  });
  if (document.documentElement.scrollWidth > innerWidth + 1) problems.push("scrolls sideways");
  return problems;
}
