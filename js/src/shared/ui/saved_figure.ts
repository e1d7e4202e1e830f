/**
 * Takes the figure of a view out of sight for as long as the view is on the page.
 *
 * A cell holds the figure as an output of its own, for a saved notebook. In JupyterLab and Notebook 7 only that beside the
 * view is hidden: another notebook on the page may hold a copy of the cell, without a view. A style element would be
 * against the policy of pages that allow only styles they know.
 */
export function hideSavedFigure(id: string, root: HTMLElement, signal: AbortSignal): void {
  const [view, figure] = [`tvmdbg-live-${id}`, `tvmdbg-saved-${id}`].map(CSS.escape);
  root.classList.add(`tvmdbg-live-${id}`);
  const sheet = new CSSStyleSheet();
  const output = ".jp-OutputArea-child:has(> .jp-OutputArea-output";
  sheet.replaceSync(
    `${output} .${view}) ~ ${output} > .${figure}), body:not([data-jp-theme-light]) .${figure} { display: none }`,
  );
  document.adoptedStyleSheets.push(sheet);
  signal.addEventListener("abort", () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== sheet);
  });
}
