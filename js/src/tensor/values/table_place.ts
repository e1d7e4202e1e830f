import { layoutPlane } from "../picture/layout.ts";

const WHOLE = { zoom: 1, row: 0, col: 0 };
/** Beside a plane, in CSS pixels. */
const MARGIN = 12;
/** With less room a table shows too few columns, and of vectors too few rows to stand beside them. */
const LEAST_WIDTH = 220;
const LEAST_ROWS = 3;
/** The picture may be smaller beside the table than it would be alone, by so much. */
const LEAST_SHARE = 0.6;

interface Parts {
  scroll: HTMLElement;
  body: HTMLElement;
  view: HTMLElement;
  stage: HTMLElement;
  table: HTMLElement;
}

/** Puts the table of values beside the picture where that leaves room for it, else below. */
export class TablePlace {
  readonly #parts: Parts;
  /** What the place was chosen for. */
  #chosen = "";

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The plane is null where no picture of one is shown; `lone` values have no picture at all. */
  arrange(plane: { rows: number; cols: number } | null, lone: boolean, entry: string): void {
    const { scroll, body, view, stage, table } = this.#parts;
    const room = [scroll.clientWidth, scroll.clientHeight];
    const key = JSON.stringify([room, plane, lone, entry, table.hidden]);
    if (key === this.#chosen) return;
    this.#chosen = key;
    const wide = lone || table.hidden ? 0 : this.#widthBeside(plane);
    const beside = lone || wide > 0;
    stage.style.flex = wide ? `0 0 ${wide}px` : "";
    if (table.parentElement !== (beside ? view : body)) (beside ? view : body).append(table);
  }

  /** How wide the stage is beside the table; 0 where that stands below. */
  #widthBeside(plane: { rows: number; cols: number } | null): number {
    const { scroll, view, table } = this.#parts;
    if (!plane || plane.rows < LEAST_ROWS) return 0;
    // The table takes height from the picture where it stands below: as if it were not there.
    const scrolled = scroll.scrollTop;
    table.hidden = true;
    const stage = { width: view.clientWidth, height: view.clientHeight };
    table.hidden = false;
    scroll.scrollTop = scrolled;
    if (!stage.width || !stage.height) return 0;
    const { plot } = layoutPlane(plane.rows, plane.cols, WHOLE, stage, devicePixelRatio || 1);
    const alone = Math.ceil(plot.x + plot.width + MARGIN);
    const wide = Math.min(alone, stage.width - LEAST_WIDTH);
    return wide >= LEAST_SHARE * alone ? wide : 0;
  }
}
