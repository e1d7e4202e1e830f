import { bindPointer, type PointerSpot } from "../../shell/pointer.ts";
import { type AxisTurn, bindAxisWheel } from "../../shell/scrolling.ts";
import type { Row } from "../data/row.ts";
import type { TimelineChart } from "./chart.ts";
import { type Edge, snapped } from "./measure.ts";
import type { TimelineHit, TimelineScene, Zone } from "./scene.ts";

/** Distance at which the pointer snaps to edges, in CSS pixels. */
const SNAP = 6;

export interface PointerEvents {
  pick: (hit: TimelineHit | null, toggle: boolean) => void;
  /** Called with a description when a track was folded or unfolded. */
  fold: (text: string) => void;
  zoomTo: (hit: TimelineHit | null) => void;
  /** Called with a dragged range, to be marked or zoomed to; null ends the drag. */
  preview: (range: readonly [number, number] | null, mark: boolean) => void;
  range: (range: readonly [number, number], row: Row | null) => void;
  hover: (hit: TimelineHit | null, x: number, y: number) => void;
  /** Called to change the visible part. */
  view: (change: () => void) => void;
  /** Called with a mark of the measure. */
  edge: (edge: Edge) => void;
  measure: () => void;
}

type DragKind = "pan" | "range" | "zoom" | "overview-move";

/** What a press may become, and where it began. */
interface TimelineDrag {
  kind: DragKind;
  zone: Zone;
  edge: Edge;
}

/** Click selects, drag marks a range, drag on axis or overview zooms; shift, middle button or finger pans, two fingers zoom. */
export function timelineGestures(
  root: HTMLElement,
  chart: TimelineChart,
  scene: TimelineScene,
  events: PointerEvents,
  signal: AbortSignal,
): void {
  const { canvas, node: stage } = chart;
  let drag: TimelineDrag = {
    kind: "range",
    zone: "tracks",
    edge: { ns: 0, slice: -1, end: "start" },
  };

  const edgeAt = (x: number, isFree: boolean): Edge => {
    const inside = Math.min(Math.max(0, x), scene.width);
    const within = (SNAP * scene.viewport.span) / scene.width;
    const rows = isFree || !scene.snaps ? [] : scene.visibleRows;
    return snapped(scene.slices, rows, scene.ns(inside), within);
  };
  const kindOf = (pans: boolean, zone: Zone, x: number): DragKind => {
    if (zone !== "overview") return pans ? "pan" : zone === "axis" ? "zoom" : "range";
    const time = scene.overviewNs(x);
    const { all, start, end } = scene.viewport;
    return !all && time >= start && time <= end ? "overview-move" : "zoom";
  };
  const span = (from: number, to: number): [number, number] => {
    const ns = (x: number) => {
      const inside = Math.min(Math.max(0, x), scene.width);
      return drag.zone === "overview" ? scene.overviewNs(inside) : scene.ns(inside);
    };
    return ordered(ns(from), ns(to));
  };
  const panBy = (px: number) => scene.viewport.pan((px / scene.width) * scene.viewport.span);

  bindPointer(
    canvas,
    {
      perFrame: true,
      press: ({ x, y }, { pans }, event) => {
        root.focus({ preventScroll: true });
        const zone = scene.zone(y);
        drag = { kind: kindOf(pans, zone, x), zone, edge: edgeAt(x, event.altKey) };
      },
      hover: ({ x, y }, event) => {
        scene.pointer = { x, y };
        scene.snapped = null;
        if (scene.measure?.open && scene.zone(y) !== "overview") {
          scene.snapped = edgeAt(x, event.altKey);
          scene.measure.follow(scene.snapped);
          events.measure();
        }
        canvas.style.cursor = scene.headAt(x, y) ? "pointer" : "";
        events.hover(scene.hit(x, y), x, y);
      },
      leave: () => {
        scene.pointer = scene.snapped = null;
        events.hover(null, 0, 0);
      },
      drag: ({ x, y }, { start, last }, event) => {
        scene.pointer = { x, y };
        stage.dataset.drag = drag.kind;
        events.hover(null, x, y);
        if (drag.kind === "range") {
          scene.snapped = edgeAt(x, event.altKey);
          events.preview(ordered(drag.edge.ns, scene.snapped.ns), true);
        } else if (drag.kind === "zoom") events.preview(span(start.x, x), false);
        else {
          events.view(() => {
            if (drag.kind === "pan") {
              panBy(last.x - x);
              scene.scrollBy(last.y - y);
            } else {
              scene.viewport.pan(((x - last.x) / scene.width) * scene.viewport.whole);
            }
          });
        }
      },
      drop: (at, { start }, event) => {
        scene.snapped = null;
        delete stage.dataset.drag;
        events.preview(null, false);
        if (!at) return;
        if (drag.kind === "range") {
          const range = ordered(drag.edge.ns, edgeAt(at.x, event.altKey).ns);
          if (range[0] < range[1]) events.range(range, rowAt(scene, start.y));
        } else if (drag.kind === "zoom") {
          const [from, to] = span(start.x, at.x);
          events.view(() => scene.viewport.show(from, to));
        }
      },
      click: ({ x, y }, event) => {
        scene.snapped = null;
        if (scene.measure?.open && drag.zone !== "overview") events.edge(edgeAt(x, event.altKey));
        else if (drag.zone === "tracks" && event.button === 0) {
          const folded = scene.foldAt(x, y);
          if (folded) events.fold(folded);
          else events.pick(scene.hit(x, y), event.ctrlKey || event.metaKey);
        } else if (drag.zone === "overview") {
          events.view(() => scene.viewport.center(scene.overviewNs(x)));
        }
      },
      doubleClick: ({ x, y }) => events.zoomTo(scene.zone(y) === "tracks" ? scene.hit(x, y) : null),
      pinch: (factor, middle, by) =>
        events.view(() => {
          scene.viewport.zoom(1 / factor, scene.ns(middle.x - by.x));
          panBy(-by.x);
        }),
    },
    signal,
  );
  const turned = ({ panPx, zoom }: AxisTurn, { x }: PointerSpot) =>
    events.view(() => {
      if (panPx) panBy(panPx);
      else scene.viewport.zoom(zoom, scene.ns(x));
    });
  bindAxisWheel(root, { stage, canvas }, turned, signal);
}

function rowAt(scene: TimelineScene, y: number): Row | null {
  const isThere = (row: Row) => {
    const box = scene.rowBox(row);
    return box && y >= box.y && y < box.y + box.height;
  };
  return scene.visibleRows.find(isThere) ?? null;
}

function ordered(a: number, b: number): [number, number] {
  return a < b ? [a, b] : [b, a];
}
