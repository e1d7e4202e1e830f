/**
 * A style that takes the figure of a view out of sight for as long as the view is on the page.
 *
 * A cell holds the figure as an output of its own, for a saved notebook.
 */
export function hideSavedFigure(id: string): HTMLStyleElement {
  const style = document.createElement("style");
  const figure = `.tvmdbg-saved-${CSS.escape(id)}`;
  style.textContent = `.jp-OutputArea-child:has(${figure}), ${figure} { display: none }`;
  return style;
}
