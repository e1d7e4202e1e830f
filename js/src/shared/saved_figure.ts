/**
 * Takes the figure of a view out of sight for as long as the view is on the page.
 *
 * A cell holds the figure as an output of its own, for a saved notebook. A style element would be against the policy of
 * pages that allow only styles they know.
 */
export function hideSavedFigure(id: string, signal: AbortSignal): void {
  const figure = `.tvmdbg-saved-${CSS.escape(id)}`;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`.jp-OutputArea-child:has(${figure}), ${figure} { display: none }`);
  document.adoptedStyleSheets.push(sheet);
  signal.addEventListener("abort", () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== sheet);
  });
}
