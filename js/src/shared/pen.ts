/** What painters use of a 2-D canvas; the recorder of figures knows the same. */
export type Pen = Pick<
  CanvasRenderingContext2D,
  | "fillStyle"
  | "strokeStyle"
  | "lineWidth"
  | "globalAlpha"
  | "font"
  | "textAlign"
  | "textBaseline"
  | "beginPath"
  | "moveTo"
  | "lineTo"
  | "rect"
  | "fill"
  | "stroke"
  | "clip"
  | "save"
  | "restore"
  | "translate"
  | "fillRect"
  | "strokeRect"
  | "fillText"
>;
