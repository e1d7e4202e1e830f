import type { TextMeasure } from "../../shared/drawing/canvas.ts";

/** What an operator, a name or a group is called: `conv2d + add + relu`, `#38`, `1×64×8×8`. */
export interface Title {
  label: string;
  /** "" of what is no node. */
  id: string;
  /** Of its output, where others are called alike; else "". */
  shape: string;
}

/** `conv2d + add + relu #38 · 1×64×8×8`. */
export function titleText({ label, id, shape }: Title): string {
  return [[label, id].filter(Boolean).join(" "), shape].filter(Boolean).join(" · ");
}

/** The first operator of a fusion. */
export function firstOf(label: string): string {
  return label.split(" + ", 1)[0]!;
}

/** As much of a title as fits: the id stays longest. */
export function fitTitle(measure: TextMeasure, title: Title, room: number): string {
  const { label, id } = title;
  const bare = firstOf(label);
  const whole = [titleText(title), `${label} ${id}`.trim(), `${bare} ${id}`.trim()];
  const fitting = whole.find((text) => measure.width(text) <= room);
  if (fitting !== undefined) return fitting;
  if (!id) return measure.fit(label, room);
  const cut = measure.fit(bare, room - measure.width(` ${id}`));
  if (cut) return `${cut} ${id}`;
  return measure.width(id) <= room ? id : "";
}
