import { isSuspicious, Verdict } from "../../shared/client/health.ts";
import type { Pen } from "../../shared/drawing/pen.ts";
import type { Picture } from "./picture.ts";

/** Suspicious boxes without text are drawn no smaller, CSS px. */
const LEAST = 6;

/** Whether a box shows that it is faulty or suspicious. */
export function isMarked({ colorBy, health }: Picture, box: number): boolean {
  return colorBy === "health" && health !== null && isSuspicious(health.verdict(box));
}

/** Faulty boxes without text are crossed out, suspicious ones struck: their color is not all that tells them apart. */
export function paintSuspicious(context: Pen, picture: Picture): void {
  const { placed, camera, palette, health } = picture;
  placed.eachBox(camera.view(8), (box) => {
    if (!isMarked(picture, box)) return;
    const { x, y, width, height } = placed.rectangle(box);
    const wide = Math.max(LEAST, width * camera.scale);
    const high = Math.max(LEAST, height * camera.scale);
    const left = camera.screenX(x + width / 2) - wide / 2;
    const top = camera.screenY(y + height / 2) - high / 2;
    context.fillStyle = palette.verdict(health!.verdict(box));
    context.fillRect(left, top, wide, high);
    context.strokeStyle = palette.theme.text;
    context.lineWidth = 1;
    context.strokeRect(left, top, wide, high);
    context.beginPath();
    context.moveTo(left, top + high);
    context.lineTo(left + wide, top);
    if (health!.verdict(box) === Verdict.FAULTY) {
      context.moveTo(left, top);
      context.lineTo(left + wide, top + high);
    }
    context.stroke();
  });
}
