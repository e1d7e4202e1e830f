import type { Part } from "../../shared/drawing/figure_parts.ts";
import type { SvgContext } from "../../shared/drawing/svg_context.ts";
import type { Theme } from "../../shared/drawing/theme.ts";
import { GraphPainter } from "../paint/drawing.ts";
import { EdgePainter } from "../paint/edges.ts";
import { OverlayPainter } from "../paint/overlay.ts";
import type { PlacedScene } from "../placed/placed_scene.ts";
import { Camera } from "../stage/camera.ts";
import type { Arranged } from "./arrange.ts";
import type { GraphSheet } from "./sheet.ts";

/** A placed scene as the live view draws it. */
export function picture(sheet: GraphSheet, { placed, camera }: Arranged): Part {
  return {
    height: camera.height,
    paint(pen, theme, top) {
      pen.save();
      pen.translate(0, top);
      paint(sheet, placed, camera, pen, theme);
      pen.restore();
    },
  };
}

function paint(
  sheet: GraphSheet,
  placed: PlacedScene,
  camera: Camera,
  pen: SvgContext,
  theme: Theme,
): void {
  const drawn = sheet.picture(placed, camera, theme);
  const painter = new GraphPainter(pen);
  painter.paint(drawn);
  const overlay = new OverlayPainter(pen, new EdgePainter(pen), painter);
  overlay.paint(drawn, sheet.marks(placed), -1);
}

/** The same seen by the camera of the request; null where there is none, or its node is not drawn. */
export function seenFrom({ request }: GraphSheet, { placed }: Arranged): Arranged | null {
  const { camera: from, height } = request.data;
  const middle = from && placed.placeOfNode(from.node);
  if (!from || !middle) return null;
  const camera = new Camera();
  camera.resize(request.width, height);
  const [x, y] = [middle.x + from.dx, middle.y + from.dy];
  return { placed, camera: Object.assign(camera, { x, y, scale: from.scale }) };
}
