/** Lets numbers that are selected in a view be copied in full, and with the minus sign of code. */
export function copyNumbers(root: HTMLElement, signal: AbortSignal): void {
  root.addEventListener(
    "copy",
    (event) => {
      const text = event.defaultPrevented ? "" : selectedText(root);
      if (!text || !event.clipboardData) return;
      event.clipboardData.setData("text/plain", text);
      event.preventDefault();
    },
    { signal },
  );
}

/** What is selected; a number of which a part is selected alone counts as a whole. */
function selectedText(root: HTMLElement): string {
  const selection = getSelection();
  if (!selection || selection.isCollapsed) return "";
  let text = String(selection);
  let from = 0;
  for (const node of root.querySelectorAll<HTMLElement>("[data-copy]")) {
    if (!selection.containsNode(node, true)) continue;
    const [shown, full] = [node.textContent ?? "", node.dataset.copy!];
    const at = text.indexOf(shown, from);
    if (at < 0) return shown.includes(text.trim()) ? full : text.replaceAll("−", "-");
    text = `${text.slice(0, at)}${full}${text.slice(at + shown.length)}`;
    from = at + full.length;
  }
  return text.replaceAll("−", "-");
}
