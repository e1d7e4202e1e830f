import {
  chips,
  type FigurePanel,
  type FigurePart,
  type FigureRequest,
  type HoverText,
  heading,
  heightOf,
  LINE,
  lacking,
  MARGIN,
  paintParts,
  paragraph,
  pencil,
  SMALL,
} from "../shared/drawing/figure.ts";
import { figureTheme, heatFill } from "../shared/drawing/theme.ts";
import { bytes, counted } from "../shared/format.ts";
import { type DrawnMemory, MemoryPainter } from "./painter.ts";
import { chipsOf } from "./panel.ts";
import { Plan, PlanDescriptions, short } from "./plan.ts";
import { AXIS, MemoryOverlay, MemoryScene } from "./scene.ts";
import type { MemoryOptions } from "./view.ts";

interface FigureOptions extends MemoryOptions {
  selected: number[];
}

type MemoryFigureRequest = FigureRequest<FigureOptions>;

const MOST_ROWS = 16;
const AREA = 110;
/** Number of boxes above which none has a tooltip, for a small file. */
const TITLED = 300;
/** Coarser than in the live view, for a small file. */
const COLUMN = 4;
const SCALE = 120;
const STOPS = 40;
/** Nodes at the peak that the description lists. */
const LISTED = 20;

/** The memory plan as a static figure. */
export async function memoryFigure(request: MemoryFigureRequest): Promise<FigurePanel> {
  const { client, mostNodes } = request;
  const columns = await client.ask("memory");
  if (!columns || "missing" in columns) {
    return lacking(request, "No memory plan", columns?.missing ?? "");
  }
  const named = columns.order.length > mostNodes ? { named: [] } : {};
  let plan = new Plan(columns, (await client.ask("graph", named))!, MOST_ROWS);
  if (named.named) {
    const nodes = drawnBoxes(plan, request).map(({ entry }) => plan.owner[entry]!);
    const graph = await client.ask("graph", { named: [...new Set(nodes)] });
    plan = new Plan(columns, graph!, MOST_ROWS);
  }
  return memoryPanel(request, plan);
}

function memoryPanel(request: MemoryFigureRequest, plan: Plan): FigurePanel {
  const { title, options, width, text } = request;
  const { columns } = plan;
  const { said: notes, wrong } = columns.info;
  const room = width - 2 * MARGIN;
  const head = [
    heading(title, notes[0] ?? "", room, text),
    ...notes.slice(1).map((line) => {
      return paragraph({ text: line, color: wrong.includes(line) ? "error" : "muted" }, room, text);
    }),
  ];
  const parts = [...head];
  let titles: HoverText[] = [];
  if (columns.slotBytes.length) {
    const [chart, boxes] = chartPart(plan, request);
    const top = heightOf(head) - MARGIN;
    titles = boxes.map((box) => ({ ...box, y: box.y + top }));
    parts.push(chart);
    if (plan.hidden) {
      const more = `${counted(plan.hidden, "smaller slot")} not drawn`;
      parts.push(paragraph({ text: more, color: "muted" }, room, text));
    }
    parts.push(options.color_by === "size" ? sizes(plan) : chips(chipsOf(plan), room, text));
  }
  return {
    height: heightOf(parts),
    title: `Memory of ${title}: ${notes[0]}`,
    words: notes.join("; "),
    text: [`${title}: memory plan`, ...notes.map((line) => `  ${line}`)].join("\n"),
    description: describe(plan, request),
    titles,
    paint: (pen, theme) => paintParts(parts, pen, theme),
  };
}

const LEFT = MARGIN - 6;

function sceneOf(plan: Plan, { options, width }: MemoryFigureRequest): MemoryScene {
  const scene = new MemoryScene(plan, 0);
  scene.parameters = options.parameters;
  scene.bySize = options.color_by === "size";
  scene.selected = options.selected;
  if (options.step_range) scene.viewport.show(...options.step_range);
  scene.resize(width - MARGIN - LEFT, AREA + AXIS + scene.rowsHeight + 2);
  return scene;
}

function drawnBoxes(plan: Plan, request: MemoryFigureRequest): DrawnMemory["marks"] {
  const { text } = request;
  const words = new PlanDescriptions(plan);
  const painter = new MemoryPainter(sceneOf(plan, request), words, pencil(text), COLUMN);
  return painter.paint(figureTheme(false, text.font)).marks;
}

function chartPart(plan: Plan, request: MemoryFigureRequest): [FigurePart, HoverText[]] {
  const scene = sceneOf(plan, request);
  const words = new PlanDescriptions(plan);
  const marks = drawnBoxes(plan, request);
  const boxes = marks.length > TITLED ? [] : marks.filter(({ kind }) => kind === "entry");
  const hover = boxes.map(({ entry, x, y, width, height }) => {
    const size = plan.columns.entryBytes[entry]!;
    const title = `${words.title(entry)}: ${size < 0 ? "unknown bytes" : bytes(size)}`;
    return { x: x + LEFT, y, width, height, text: title };
  });
  const part: FigurePart = {
    height: scene.height + 6,
    paint(pen, theme, top) {
      pen.save();
      pen.translate(LEFT, top);
      new MemoryPainter(scene, words, pen, COLUMN).paint(theme);
      new MemoryOverlay(scene, pen).paint(theme);
      pen.restore();
    },
  };
  return [part, hover];
}

function sizes(plan: Plan): FigurePart {
  return {
    height: LINE,
    paint(pen, theme, top) {
      pen.font = `${SMALL}px ${theme.font}`;
      pen.textBaseline = "middle";
      pen.fillStyle = theme.text;
      pen.fillText("0 B", MARGIN, top + LINE / 2);
      pen.fillText(short(plan.largest), MARGIN + SCALE + 32, top + LINE / 2);
      const step = SCALE / STOPS;
      for (let at = 0; at < STOPS; at++) {
        pen.fillStyle = heatFill(theme, at / (STOPS - 1));
        pen.fillRect(MARGIN + 26 + at * step, top + 3, step + 0.2, 9);
      }
    },
  };
}

function describe(plan: Plan, { title, options }: MemoryFigureRequest): FigurePanel["description"] {
  const { info, slotBytes, slotBuffer, slotDevice, slotOffset, slotStorage } = plan.columns;
  return {
    title,
    said: info.said,
    parameters: options.parameters,
    color_by: options.color_by,
    step_range: options.step_range,
    selected: options.selected,
    allocated: info.allocated,
    parameter_bytes: info.parameters,
    parameter_basis: info.roles || null,
    peak: info.peak,
    peak_nodes: info.peakNodes.slice(0, LISTED),
    slots: Array.from(plan.slots, (slot, row) => ({
      storage_id: slotStorage[slot]!,
      device: info.devices[slotDevice[slot]!] ?? null,
      bytes: slotBytes[slot]!,
      entries: plan.row(row).entries.length,
      ...(slotBuffer[slot]! < 0 ? {} : { buffer: slotBuffer[slot]!, offset: slotOffset[slot]! }),
    })),
  };
}
