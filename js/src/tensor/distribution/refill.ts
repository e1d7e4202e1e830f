/** Puts other children into a box; the focus stays on the one of the same `data-key`. */
export function refill(box: HTMLElement, ...children: Node[]): void {
  const held = box.contains(document.activeElement)
    ? (document.activeElement as HTMLElement).dataset.key
    : undefined;
  box.replaceChildren(...children);
  if (held === undefined) return;
  for (const node of box.querySelectorAll<HTMLElement>("[data-key]")) {
    if (node.dataset.key === held) node.focus({ preventScroll: true });
  }
}
