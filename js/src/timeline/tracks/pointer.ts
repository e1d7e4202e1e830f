import { bindPointer } from "../../shell/pointer.ts";
import type { Row } from "../data/row.ts";
import type { Flamechart } from "../flamechart.ts";
import { type Edge, snapped } from "./measure.ts";
import type { TimelineScene, Zone } from "./scene.ts";

/** Distance at which the pointer snaps to edges, in CSS pixels. */
const SNAP = 6;

type DragKind = "pan" | "range" | "zoom" | "overview-move";

/** What a press may become, and where it began. */
interface TimelineDrag {
  kind: DragKind;
  zone: Zone;
  edge: Edge;
}

/** Click selects, drag marks a range, drag on axis or overview zooms; shift, middle button or finger pans, two fingers zoom. */
export function timelineGestures(view: Flamechart): void {
  const { root, scene, camera, ranges, hovering } = view;
  const { canvas, node: stage } = view.chart;
  const { signal } = view.context;
  let drag: TimelineDrag = {
    kind: "range",
    zone: "tracks",
    edge: { ns: 0, slice: -1, end: "start" },
  };

  const edgeAt = (x: number, isFree: boolean): Edge => {
    const inside = Math.min(Math.max(0, x), scene.width);
    const within = (SNAP * scene.viewport.span) / scene.width;
    const rows = isFree || !scene.snaps ? [] : scene.visibleRows;
    return snapped(scene.slices, rows, scene.at(inside), within);
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
      return drag.zone === "overview" ? scene.overviewNs(inside) : scene.at(inside);
    };
    return ordered(ns(from), ns(to));
  };

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
          ranges.follow();
        }
        canvas.style.cursor = scene.headAt(x, y) ? "pointer" : "";
        hovering.at(scene.hit(x, y), x, y);
      },
      leave: () => {
        scene.pointer = scene.snapped = null;
        hovering.at(null, 0, 0);
      },
      drag: ({ x, y }, { start, last }, event) => {
        scene.pointer = { x, y };
        stage.dataset.drag = drag.kind;
        hovering.at(null, x, y);
        if (drag.kind === "range") {
          scene.snapped = edgeAt(x, event.altKey);
          ranges.preview(ordered(drag.edge.ns, scene.snapped.ns), true);
        } else if (drag.kind === "zoom") ranges.preview(span(start.x, x), false);
        else {
          camera.move(() => {
            if (drag.kind === "pan") {
              scene.viewport.pan(((last.x - x) / scene.width) * scene.viewport.span);
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
        ranges.preview(null, false);
        if (!at) return;
        if (drag.kind === "range") {
          const range = ordered(drag.edge.ns, edgeAt(at.x, event.altKey).ns);
          if (range[0] < range[1]) ranges.mark(range, rowAt(scene, start.y));
        } else if (drag.kind === "zoom") {
          const [from, to] = span(start.x, at.x);
          camera.move(() => scene.viewport.show(from, to));
        }
      },
      click: ({ x, y }, event) => {
        scene.snapped = null;
        if (scene.measure?.open && drag.zone !== "overview")
          ranges.setEdge(edgeAt(x, event.altKey));
        else if (drag.zone === "tracks" && event.button === 0) {
          const folded = scene.foldAt(x, y);
          if (folded) view.fold(folded);
          else view.pickHit(scene.hit(x, y), event.ctrlKey || event.metaKey);
        } else if (drag.zone === "overview") {
          camera.move(() => scene.viewport.center(scene.overviewNs(x)));
        }
      },
      doubleClick: ({ x, y }) => {
        if (scene.zone(y) === "tracks" && scene.hit(x, y)) camera.fit();
      },
      pinch: (factor, middle, by) => {
        camera.zoom(1 / factor, scene.at(middle.x - by.x));
        camera.panBy(-by.x);
      },
    },
    signal,
  );
  camera.onWheel(root, view.chart, signal);
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
