import { plain } from "../../shared/drawing/svg_marks.ts";
import { ClassColors } from "../color/classes.ts";
import { NumberColors } from "../color/numbers.ts";
import { verdictLabel } from "../data/health.ts";
import { Palette } from "../paint/palette.ts";
import type { GraphRequest } from "./request.ts";
import { GraphSheet } from "./sheet.ts";

/** What colors show, one a node, for other tools. */
export interface NodeColors {
  /** In the light theme; null where nothing is known. */
  fills: (string | null)[];
  said: string[];
  /** Null where it is not known, as what is no number in JSON. */
  values: (number | string | null)[];
}

/** The colors of all nodes of a graph by themselves. */
export function nodeColors(request: GraphRequest): NodeColors {
  const sheet = new GraphSheet(request);
  const { labels, graph } = sheet.model;
  const scene = sheet.scene({ fold: false });
  const theme = sheet.theme(false);
  const palette = new Palette(theme);
  const colors = sheet.colors(scene, theme);
  const { health } = sheet;
  const told = { fills: [], said: [], values: [] } as NodeColors;
  const add = (fill: string | null, said: string, value: number | string | null) => {
    told.fills.push(fill && plain(fill));
    told.said.push(said);
    told.values.push(value);
  };
  for (let box = 0; box < scene.count; box++) {
    const node = scene.node[box]!;
    const face = colors.face(box);
    if (colors instanceof NumberColors) {
      const value = colors.value(box);
      const said = sheet.colorBy === "time" ? labels.time(node) : colors.said(box);
      add(face, said, Number.isNaN(value) ? null : value);
    } else if (colors instanceof ClassColors) {
      const said = colors.said(box);
      add(face, said, face && said);
    } else if (health && sheet.colorBy === "health") {
      const verdict = health.verdict[node]!;
      add(face ?? palette.plain, health.brief(node), verdictLabel(verdict));
    } else {
      const kind = graph.opKinds.at(node);
      add(palette.tint(kind), kind, kind);
    }
  }
  return told;
}
