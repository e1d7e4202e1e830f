import { splitter } from "../shared/ui/splitter.ts";

/** Shares of what lies before a bar, at most and at least. */
const [LEAST, MOST] = [0.2, 0.85];
const CHART = 0.56;
const UPPER = 0.6;

const within = (share: number) => Math.min(MOST, Math.max(LEAST, share));

/** The bars that share out the view: between chart and table, and between these and the panes below. */
export function splits(root: HTMLElement): { across: HTMLElement; down: HTMLElement } {
  const across = splitter("Width of the chart", "vertical", (share) => {
    across.set(within(share));
    root.style.setProperty("--chart", `${100 * within(share)}%`);
  });
  const down = splitter("Height of the chart", "horizontal", (share) => {
    down.set(within(share));
    const { offsetTop } = down.node.previousElementSibling as HTMLElement;
    root.style.setProperty("--upper", `calc(${100 * within(share)}% - ${offsetTop}px)`);
  });
  across.set(CHART);
  down.set(UPPER);
  return { across: across.node, down: down.node };
}
