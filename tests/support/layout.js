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

  for (const read of root.querySelectorAll(".dpx-readout")) {
    if (read.scrollHeight > read.clientHeight + 1) problems.push(`cut text: ${words(read)}`);
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
  // Lines of text outside of charts, as far as boxes that scroll or cut show them.
  const seenOf = (b, element) => {
    let [left, top, right, bottom] = [b.left, b.top, b.right, b.bottom];
    for (let each = element; each !== root.parentElement; each = each.parentElement) {
      if (getComputedStyle(each).overflow === "visible") continue;
      const outer = box(each);
      [left, top] = [Math.max(left, outer.left), Math.max(top, outer.top)];
      [right, bottom] = [Math.min(right, outer.right), Math.min(bottom, outer.bottom)];
    }
    return { left, top, right, bottom };
  };
  const lines = [];
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { parentElement: element, data } = texts.currentNode;
    const apart = "svg, option, style, title, .dpx-announcement, .dpx-tip, .dpx-sticky";
    if (!data.trim() || element.closest(apart) || !element.checkVisibility({ visibilityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(texts.currentNode);
    for (const b of range.getClientRects()) {
      lines.push({ b: seenOf(b, element), node: texts.currentNode, data: data.slice(0, 40) });
    }
  }
  lines.sort((one, other) => one.b.top - other.b.top);
  lines.forEach(({ b, node, data }, i) => {
    for (let j = i + 1; j < lines.length && lines[j].b.top < b.bottom - 4; j += 1) {
      if (lines[j].node === node) continue; // a text with an ellipsis has boxes for both its parts
      const other = lines[j].b;
      const over = Math.min(b.right, other.right) - Math.max(b.left, other.left);
      const down = Math.min(b.bottom, other.bottom) - other.top;
      if (over > 1 && down > 4) problems.push(`overlap: ${data} / ${lines[j].data}`);
    }
  });

  const rows = Array.from(root.querySelectorAll(".dpx-term"), box);
  rows.forEach((row, i) => {
    if (i > 0 && row.top < rows[i - 1].bottom - 0.5) problems.push(`overlap of terms at row ${i}`);
  });
  if (document.documentElement.scrollWidth > innerWidth + 1) problems.push("scrolls sideways");
  return problems;
}
