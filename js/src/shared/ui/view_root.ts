import { applyTheme } from "../drawing/theme.ts";
import { letSave } from "./dom.ts";
import { hideSavedFigure } from "./saved_figure.ts";

/** The element of a live view in its cell, in the host's theme, in place of the figure saved beside it. */
export function viewRoot(el: HTMLElement, figureId: string, signal: AbortSignal): HTMLElement {
  const root = document.createElement("div");
  el.append(root);
  signal.addEventListener("abort", () => root.remove());
  applyTheme(root, signal);
  letSave(root, signal);
  hideSavedFigure(figureId, root, signal);
  return root;
}
