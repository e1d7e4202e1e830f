import type { RunClient } from "../../shared/client/run_client.ts";
import type { SessionClient } from "../../shared/client/session_client.ts";
import type { Theme } from "../../shared/drawing/theme.ts";
import type { ViewOptions } from "../../shared/ui/view_options.ts";
import type { Data } from "../data.ts";
import type { TimelineOptions } from "../state.ts";

/** What takes the place of the tracks in time: the same slices, seen otherwise. */
export interface OtherChart {
  readonly node: HTMLElement;
  /** What it says of what was picked in it, "" nothing; the session's words follow a pick. */
  readonly sentence?: string;
  /** Shows what the session says: selection, hover. */
  sync(): void;
  /** Whether the key meant something here; then nobody else acts on it. */
  key(event: KeyboardEvent): boolean;
  /** Adds what is drawn now, for tests: `labels` and `marks` in CSS pixels of `node`. */
  inspect(out: Record<string, unknown>): void;
  retheme(theme: Theme): void;
}

/** What the view does for a chart. */
export interface ChartHost {
  readonly data: Data;
  readonly run: RunClient;
  readonly options: ViewOptions<TimelineOptions>;
  readonly session: SessionClient;
  /** Selects nodes, or one slice; the last node is the one looked at. */
  pick(nodes: readonly number[], slice?: number): void;
  hover(node: number | null): void;
  /** Says something in the text mirror. */
  say(text: string): void;
  /** Shows lines beside a point of the chart's `node`, the first in bold; null hides them. */
  tip(lines: string[] | null, x: number, y: number): void;
  readonly signal: AbortSignal;
}
