// What can be seen of a view's root: its texts, its controls, the labels of its canvases.
(root) => {
  const parse = (color) => {
    const [r = 0, g = 0, b = 0, a = 1] = (color.match(/[\d.]+/g) ?? []).map(Number);
    return color.startsWith("color(") ? [r * 255, g * 255, b * 255, a] : [r, g, b, a];
  };
  const over = (top, below) => {
    const a = top[3] + below[3] * (1 - top[3]);
    if (a === 0) return [0, 0, 0, 0];
    const mix = (i) => (top[i] * top[3] + below[i] * below[3] * (1 - top[3])) / a;
    return [mix(0), mix(1), mix(2), a];
  };
  const luminance = (color) => {
    const [r, g, b] = color.slice(0, 3).map((value) => {
      const share = value / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
    return (light + 0.05) / (dark + 0.05);
  };
  const ancestors = (node) => {
    const found = [];
    for (let each = node; each; each = each.parentElement) found.push(each);
    return found;
  };
  const opacity = (node) =>
    ancestors(node).reduce((product, each) => product * Number(getComputedStyle(each).opacity), 1);

  /** What lies behind a point of an element, composed. */
  const behind = (node, x, y) => {
    const stack = document.elementsFromPoint(x, y);
    const at = stack.indexOf(node);
    const below = at < 0 ? ancestors(node) : stack.slice(at);
    let color = [0, 0, 0, 0];
    for (const each of below) {
      const fill = parse(getComputedStyle(each).backgroundColor);
      color = over(color, [fill[0], fill[1], fill[2], fill[3] * opacity(each)]);
    }
    return over(color, [255, 255, 255, 1]);
  };

  const clips = (value) => value !== "visible";
  const before = (node, other) =>
    Boolean(node.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING);
  /** Heads that stay where they are, each with what scrolls below it. */
  const stuck = [...root.querySelectorAll("*")]
    .filter((each) => getComputedStyle(each).position === "sticky" && each.checkVisibility())
    .map((head) => {
      const around = ancestors(head.parentElement);
      return [head, around.find((each) => clips(getComputedStyle(each).overflowY))];
    });

  /** The part of a box that scrolling or hiding ancestors leave, and whether one that cannot scroll took some. */
  const visible = (node, box) => {
    let { left, top, right, bottom } = box;
    let cut = "";
    for (const each of ancestors(node)) {
      const style = getComputedStyle(each);
      if (style.display === "contents") continue;
      if (!clips(style.overflowX) && !clips(style.overflowY)) continue;
      for (const [head, scroller] of stuck) {
        if (each !== scroller || head.contains(node) || before(node, head)) continue;
        top = Math.max(top, Math.min(bottom, head.getBoundingClientRect().bottom));
      }
      const outer = each.getBoundingClientRect();
      const scrolls = (value) => value === "auto" || value === "scroll";
      const excused = style.textOverflow === "ellipsis" && each.closest("[title]");
      if (clips(style.overflowX)) {
        const lost = left < outer.left - 1 || right > outer.right + 1;
        if (lost && !scrolls(style.overflowX) && !excused) cut ||= `across by .${each.className}`;
        [left, right] = [Math.max(left, outer.left), Math.min(right, outer.right)];
      }
      if (clips(style.overflowY)) {
        const lost = top < outer.top - 1 || bottom > outer.bottom + 1;
        // A shade tells of more, which scrolls once its view has the focus.
        const told = (top >= outer.bottom && each.title) || each.matches(".tvmdbg-shaded");
        if (lost && !scrolls(style.overflowY) && !told) cut ||= `down by .${each.className}`;
        [top, bottom] = [Math.max(top, outer.top), Math.min(bottom, outer.bottom)];
      }
      if (right - left < 1 || bottom - top < 1) return { seen: null, cut };
      if (each === root) break;
    }
    return { seen: { left, top, right, bottom }, cut };
  };

  const texts = [];
  const ruler = document.createElement("canvas").getContext("2d");
  const ARROW = 12;
  const add = (node, text, box, style, pseudo = "") => {
    const { seen, cut } = visible(node, box);
    const fact = { text: text.replaceAll("\u00a0", " "), node, size: Number.parseFloat(style.fontSize), cut, seen };
    if (seen && !node.closest(":disabled")) {
      const [x, y] = [(seen.left + seen.right) / 2, (seen.top + seen.bottom) / 2];
      const fill = behind(node, x, y);
      const ink = parse(style.color);
      const color = over([ink[0], ink[1], ink[2], ink[3] * opacity(node)], fill);
      const large = fact.size >= 24 || (fact.size >= 18.66 && Number(style.fontWeight) >= 700);
      fact.contrast = contrast(color, fill);
      fact.enough = fact.contrast >= (large ? 3 : 4.5);
    }
    texts.push({ ...fact, pseudo });
  };
  const shown = (node) =>
    node.checkVisibility({ visibilityProperty: true }) && !node.closest(".tvmdbg-mirror, option");
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (walker.nextNode()) {
    const { currentNode: node } = walker;
    if (!node.data.trim() || !shown(node.parentElement)) continue;
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) {
      if (box.width > 0) add(node.parentElement, node.data, box, getComputedStyle(node.parentElement));
    }
  }
  for (const field of root.querySelectorAll("input:not([type=range]), select")) {
    if (!shown(field)) continue;
    const part = field.value || field.tagName === "SELECT" ? null : "::placeholder";
    const text = field.value || field.placeholder || "";
    add(field, text, field.getBoundingClientRect(), getComputedStyle(field, part), part ?? "");
    if (field.tagName === "SELECT") {
      const { font, paddingLeft, paddingRight } = getComputedStyle(field);
      ruler.font = font;
      const room = field.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight);
      const chosen = field.selectedOptions[0]?.textContent ?? "";
      if (ruler.measureText(chosen).width > room - ARROW) {
        texts.push({ text: chosen, size: 99, cut: "by its own list", seen: null });
      }
    }
    if (field.tagName === "INPUT" && field.scrollWidth > field.clientWidth + 1 && !field.title) {
      texts.push({ text, size: 99, cut: "by its own field", seen: null });
    }
  }

  const boxes = texts.filter(({ seen }) => seen);
  const overlaps = [];
  for (const [i, one] of boxes.entries()) {
    for (const other of boxes.slice(i + 1)) {
      if (one.node === other.node) continue;
      const across = Math.min(one.seen.right, other.seen.right) - Math.max(one.seen.left, other.seen.left);
      const down = Math.min(one.seen.bottom, other.seen.bottom) - Math.max(one.seen.top, other.seen.top);
      if (across > 2 && down > 4) overlaps.push(`${one.text} | ${other.text}`);
    }
  }

  const canvases = [];
  const views = [root, ...root.querySelectorAll(".tvmdbg")];
  for (const view of views.filter((each) => each.querySelector(":scope .tvmdbg-stage"))) {
    if (view.matches(".tvmdbg-debugger") || !view.checkVisibility()) continue;
    const found = {};
    view.dispatchEvent(new CustomEvent("tvmdbg:inspect", { detail: found }));
    const stage = view.querySelector(".tvmdbg-timeline-other") ?? view.querySelector(".tvmdbg-stage");
    const scroller = stage.querySelector(".tvmdbg-timeline-scroll");
    const scrolls = scroller && scroller.scrollHeight > scroller.clientHeight;
    const labels = found.labels ?? [];
    const clashes = [];
    for (const [i, one] of labels.entries()) {
      const out =
        one.x < -1 || one.y < -1 || one.x + one.width > stage.clientWidth + 1 ||
        (one.y + one.height > stage.clientHeight + 1 && !scrolls);
      if (out) clashes.push(`${one.text} leaves the stage`);
      for (const other of labels.slice(i + 1)) {
        const across = Math.min(one.x + one.width, other.x + other.width) - Math.max(one.x, other.x);
        const down = Math.min(one.y + one.height, other.y + other.height) - Math.max(one.y, other.y);
        if (across > 1 && down > 1) clashes.push(`${one.text} | ${other.text}`);
      }
    }
    canvases.push({
      view: view.getAttribute("aria-roledescription"),
      labels: labels.map(({ text }) => text),
      smallest: Math.min(99, ...labels.map(({ height }) => height)),
      marks: (found.marks ?? []).length,
      clashes,
    });
  }

  const controls = [
    ...root.querySelectorAll("button, input, select, summary, [tabindex='0'], a[href]"),
  ].filter((each) => shown(each) && !each.disabled);
  if (root.tabIndex === 0) controls.unshift(root);
  const name = (each) =>
    each.getAttribute("aria-label") || each.labels?.[0]?.textContent || each.textContent.trim() || each.title;
  const words = (each) =>
    [...each.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE).map(({ data }) => data.trim());
  const isSaid = (each) =>
    words(each).every((part) => !/\p{L}{2}/u.test(part) || name(each).toLowerCase().includes(part.toLowerCase()));
  return {
    texts: texts.map(({ seen, node, ...fact }) => ({ ...fact, seen: seen !== null })),
    overlaps,
    canvases,
    nameless: controls.filter((each) => !name(each)?.trim()).map((each) => each.outerHTML.slice(0, 120)),
    unsaid: controls.filter((each) => each.matches("button") && !isSaid(each)).map((each) => each.outerHTML),
    // Tab leads to one tab of a list, arrows to the others (ARIA Authoring Practices, "Tabs").
    untabbable: controls.filter((each) => each.tabIndex < 0 && !each.matches('[role="tab"]')).map((each) => name(each)),
    silent: views
      .flatMap((each) => [...each.querySelectorAll(":scope > .tvmdbg-mirror")])
      .filter((each) => !each.textContent.trim()).length,
    wide: views.filter((each) => each.scrollWidth > each.clientWidth + 1).map((each) => each.className),
  };
};
