import type { Mirror } from "../shared/ui/mirror.ts";
import type { ViewContext } from "../shared/ui/view.ts";
import type { Chosen } from "./chosen.ts";
import type { Hits } from "./data/hits.ts";
import type { GraphModel } from "./data/model.ts";
import type { Walk } from "./data/walk.ts";
import type { GraphOptions } from "./options.ts";
import type { Palette } from "./paint/palette.ts";
import type { PlacedScene } from "./placed/placed_scene.ts";
import type { Stage } from "./stage/stage.ts";
import type { Tooltip } from "./stage/tooltip.ts";

/** What a graph is mounted with; where it stands beside another one, more than a graph alone needs. */
export interface GraphContext extends ViewContext<GraphOptions> {
  /** What stands before its tools. */
  title?: HTMLElement;
  /** Whether other views beside it say what its details would: those are closed until they are asked for. */
  isBeside?: boolean;
  /** The node that it opens on, in place of that of the first fault or the slowest; -1 for its beginning. */
  opensOn?: number;
  /** Places what was laid out so that it suits what stands beside it. */
  place?: (placed: PlacedScene, view: Replaceable) => PlacedScene;
}

/** A graph whose boxes may be placed anew. */
export interface Replaceable {
  replace(placed: PlacedScene): void;
}

/** What the parts of a view of a graph share; each takes of it what it needs. */
export interface GraphParts {
  readonly root: HTMLElement;
  readonly context: GraphContext;
  readonly chosen: Chosen;
  readonly model: GraphModel;
  readonly hits: Hits;
  readonly stage: Stage;
  readonly mirror: Mirror;
  readonly tooltip: Tooltip;
  readonly palette: Palette;
  /** What is shown now; null until the first layout is there. */
  placed: PlacedScene | null;
  walk: Walk | null;
  /** The selected node that details and keys speak of. */
  readonly node: number | null;
  /** The box that keys start from, -1 where there is none. */
  readonly box: number;
  /** Whether another picture is on its way. */
  readonly isArranging: boolean;
  /** Whether the graph stands in columns. */
  readonly isWrapped: boolean;
  /** The selection that the view itself is about to make: it moves the camera as it likes. */
  expects(selection: string): void;
  /** Selects nodes and no group in all views, without another move of the camera in this one. */
  selectNodes(nodes: readonly number[]): void;
  /** Builds the scene that the traits ask for, lays it out and shows it; what was looked at stays unless it `opens`. */
  arrange(opens: boolean): Promise<void>;
  /** Draws the picture anew; `place` sets the camera once the stage has a size. */
  repaint(place?: (() => void) | null): void;
  /** Draws anew what is marked over the picture. */
  mark(): void;
  /** Says what is selected, in the details and to screen readers; late, without talking over what was said meanwhile. */
  tell(isLate?: boolean): void;
  /** Says in the toolbar what is shown and how. */
  showToolbar(): void;
}
