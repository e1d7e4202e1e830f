import { Walk } from "../data/walk.ts";
import type { GraphParts } from "../parts.ts";
import type { PlacedScene } from "../placed/placed_scene.ts";
import type { NavigationHistory } from "./navigation_history.ts";

interface Place {
  x: number;
  y: number;
}

/** What it needs of the view. */
type Placing = Pick<
  GraphParts,
  | ("context" | "hits" | "isArranging" | "model" | "node" | "placed" | "stage" | "walk")
  | ("arrange" | "mark" | "repaint" | "tell")
> & {
  isUntouched: boolean;
  folding: { placed(): number };
  navigation: Pick<NavigationHistory, "settle">;
};

/** Puts the camera over another picture: what was looked at stays where it was. */
export class CameraRestorer {
  readonly #view: Placing;
  /** The group that stays where it is while the picture changes, if it is not what is selected. */
  anchor: number | null = null;
  /** Whether the next picture is fitted to the stage. */
  fits = false;
  /** The node that the next picture is opened for. */
  goal: number | null = null;

  constructor(view: Placing) {
    this.#view = view;
  }

  /** Shows a placed scene; unless it opens anew, what was looked at stays where it was. */
  show(placed: PlacedScene, opens: boolean, focus: number | null): void {
    const view = this.#view;
    const before = view.placed;
    const { camera, showsAll } = view.stage;
    const { fits, anchor, goal } = this;
    const seen = view.node ?? focus ?? before?.nearest(camera.x, camera.y) ?? null;
    const moved = before && this.#moved(before, placed, seen);
    const kept = before && this.#shows(before, view.node) ? placed.boxOf(view.node!) : -1;
    if (!view.isArranging) {
      this.anchor = this.goal = null;
      this.fits = false;
    }
    view.placed = placed;
    view.walk = new Walk(placed);
    const place = fits
      ? () => void (view.navigation.settle(placed) || view.stage.fitAll())
      : opens || !moved
        ? this.#opening(before, placed, focus)
        : () => {
            camera.x += moved.x;
            camera.y += moved.y;
            if (view.navigation.settle(placed)) return;
            view.stage.changed();
            const wanted = goal === null ? -1 : placed.boxOf(goal);
            if (wanted >= 0) view.stage.arrive(wanted);
            const opened = anchor ?? (goal === null ? openedAlone(before!, placed) : -1);
            const frame = placed.scene.frameOfGroup[opened] ?? -1;
            if (frame >= 0) view.stage.reveal(placed.frame(frame), showsAll);
            // All was in view, and there is less of it now: it is shown as large as there is room.
            else if (showsAll && placed.length < 0.9 * before!.length) view.stage.fitAll();
            else if (kept >= 0) view.stage.goTo(kept);
          };
    let coming = -1;
    view.hits.locate(placed.scene);
    view.repaint(() => {
      place();
      if (coming >= 0 && view.placed === placed) view.stage.goTo(coming);
    });
    view.mark();
    view.tell(true);
    coming = view.folding.placed();
  }

  /** Opens anew at what has become known, unless somebody has gone elsewhere meanwhile. */
  lookAgain(): void {
    const { stage, node, context, isUntouched } = this.#view;
    if (node === null && isUntouched && !stage.isMoved && !context.options.get("camera")) {
      void this.#view.arrange(true);
    }
  }

  #opening(before: PlacedScene | null, placed: PlacedScene, focus: number | null): () => void {
    const view = this.#view;
    const boxOf = (node: number | null) => {
      const box = node === null || node < 0 ? -1 : placed.boxOf(node);
      return box < 0 ? null : box;
    };
    const node = boxOf(view.node);
    const asked = view.node;
    const told = before ? (node ?? boxOf(focus)) : (boxOf(focus) ?? node);
    const wanted = told ?? boxOf(view.model.answer) ?? -1;
    return () => {
      const { node } = view;
      const since = node === null || node === asked ? -1 : placed.boxOf(node);
      if (!view.navigation.settle(placed)) view.stage.open(since >= 0 ? since : wanted);
    };
  }

  /** Whether all of a node's box is in sight. */
  #shows(placed: PlacedScene, node: number | null): boolean {
    const box = node === null ? -1 : placed.boxOf(node);
    return box >= 0 && this.#view.stage.camera.shows(placed.rectangle(box), 0);
  }

  /** How far what was looked at has moved; null where it is not in both pictures. */
  #moved(before: PlacedScene, after: PlacedScene, seen: number | null): Place | null {
    const { anchor } = this;
    const difference = (place: (at: PlacedScene) => Place | null) => {
      const [is, was] = [place(after), place(before)];
      return is && was && { x: is.x - was.x, y: is.y - was.y };
    };
    const node = difference((at) => at.placeOfNode(seen));
    if (anchor === null) return node;
    const group = difference((at) => at.placeOfGroup(anchor));
    if (!group) return node;
    // A frame is not always as wide at both sides of the line that runs through it: that line stays.
    const line = difference((at) => at.placeOfNode(this.#before(anchor, before, after)));
    if (!line) return group;
    return after.layout.direction === "down" ? { ...group, x: line.x } : { ...group, y: line.y };
  }

  /** A node with a box of its own in both pictures that the group reads. */
  #before(group: number, before: PlacedScene, after: PlacedScene): number | null {
    const { groups, links } = this.#view.model;
    const { edgeSource } = links.graph;
    const inside = new Set(groups.nodes(group));
    const hasBox = ({ scene }: PlacedScene, node: number) =>
      scene.boxStart[node + 1]! - scene.boxStart[node]! === 1;
    for (const node of inside) {
      for (const edge of links.into(node)) {
        const source = edgeSource[edge]!;
        if (source < 0 || inside.has(source)) continue;
        if (hasBox(before, source) && hasBox(after, source)) return source;
      }
    }
    return null;
  }
}

/** The only group that is open now and was not, apart from those within it; -1 where there is none, or are several. */
function openedAlone(before: PlacedScene, after: PlacedScene): number {
  const { group, parent } = after.scene.frames;
  const isNew = (frame: number) => (before.scene.frameOfGroup[group[frame]!] ?? -1) < 0;
  const opened = Array.from(group.keys()).filter(
    (frame) => isNew(frame) && !(parent[frame]! >= 0 && isNew(parent[frame]!)),
  );
  return opened.length === 1 ? group[opened[0]!]! : -1;
}
