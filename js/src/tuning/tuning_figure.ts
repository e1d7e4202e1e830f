import { errorText } from "../shared/client/request.ts";
import {
  chips,
  type FigurePanel,
  type FigurePart,
  type FigureRequest,
  heightOf,
  LINE,
  MARGIN,
  MONO,
  paintParts,
  paragraph,
  pencil,
  SMALL,
} from "../shared/drawing/figure.ts";
import type { TextWidths } from "../shared/drawing/text_widths.ts";
import type { Theme } from "../shared/drawing/theme.ts";
import { counted } from "../shared/format.ts";
import { append, largest } from "../shared/many.ts";
import { paintOverlay } from "./chart.ts";
import { ChartPainter } from "./chart_painter.ts";
import { factorText, lineParts, type ScheduleInfo, type TuningReplies } from "./client.ts";
import {
  annotationColor,
  countTrials,
  errorFill,
  TuningData,
  type TuningInfo,
  type TuningOptions,
} from "./data.ts";
import { codesOf, headline, outcomeName, taskTitle } from "./descriptions.ts";
import { shownTrial, TrialScene } from "./scene.ts";
import { COLUMNS, shownColumns, type TaskRow, taskRows } from "./task_table.ts";

type TuningFigureRequest = FigureRequest<TuningOptions, TuningReplies>;

const CHART = 250;
const CELL = 3;
const FINDINGS = 3;
/** Characters of a query that was not searched. */
const LONGEST = 80;
const TASKS = 10;
const NEST = 28;
/** Longest nest whose loops are also described in words: names grow with nested splits. */
const MOST_LINES = 100;
const CODE_LINE = 15;

/** The tuning log as a static figure: the same chart, rows and loops as the live view. */
export async function tuningFigure(request: TuningFigureRequest): Promise<FigurePanel> {
  const { client, options } = request;
  const data = new TuningData(await client.ask("tuning"));
  const trial = shownTrial(data, options.task ?? -1, options.trial);
  const schedule = trial < 0 ? null : await client.ask("schedule", { trial });
  const { mask, caption } = await matchesOf(request);
  const scene = sceneOf(data, options, trial);
  scene.chosen = mask;
  return tuningPanel(request, scene, schedule, caption);
}

/** Trials that a query finds, null for all, with the result in words. */
async function matchesOf({ client, options: { query } }: TuningFigureRequest) {
  if (!query) return { mask: null, caption: "" };
  try {
    const { mask, info } = await client.ask("select", { query });
    return { mask, caption: info.caption };
  } catch (error) {
    const caption = `“${query.slice(0, LONGEST)}” was not searched: ${errorText(error)}`;
    return { mask: null, caption };
  }
}

function tuningPanel(
  { options, width, text }: TuningFigureRequest,
  scene: TrialScene,
  schedule: ScheduleInfo | null,
  caption: string,
): FigurePanel {
  const { data } = scene;
  const { info } = data;
  scene.width = width;
  scene.height = CHART;
  const counts = countTrials(data, scene.range, scene.chosen);
  const rows = taskRows(info, options.sort, counts);
  const room = width - 2 * MARGIN;
  const lines = textOf(data, rows, schedule);
  const { findings, refused } = info;
  const say = (note: Parameters<typeof paragraph>[0]) => paragraph(note, room, text);
  const parts = [
    say({ text: info.title, bold: true }),
    say({ text: headline(data) }),
    ...(caption ? [say({ text: caption, color: "muted" })] : []),
    ...findings
      .slice(0, FINDINGS)
      .map(({ severity, title }) => say({ text: `${severity}: ${title}`, color: severity })),
    ...(refused
      ? [say({ text: `${counted(refused, "line")} could not be read`, color: "error" })]
      : []),
    chart(scene),
    legend(data, room, text),
    table(info, rows, room, text),
    ...(schedule ? [nest(schedule, room, text)] : []),
  ];
  return {
    height: heightOf(parts),
    title: `Tuning log ${info.title}: ${headline(data)}`,
    words: lines.join("; "),
    text: lines.join("\n"),
    description: describe(scene, rows, schedule),
    paint: (pen, theme) => paintParts(parts, pen, theme),
  };
}

function sceneOf(data: TuningData, options: TuningOptions, trial: number): TrialScene {
  const scene = new TrialScene(data);
  scene.along = data.info.timed ? options.along : "trial";
  scene.task = options.task ?? -1;
  scene.trial = trial;
  scene.range = options.trial_range;
  return scene;
}

function chart(scene: TrialScene): FigurePart {
  return {
    height: CHART,
    paint(pen, theme, top) {
      pen.save();
      pen.translate(0, top);
      new ChartPainter(scene, pen, CELL).paint(theme);
      paintOverlay(scene, pen, theme);
      pen.restore();
    },
  };
}

function legend(data: TuningData, room: number, text: TextWidths): FigurePart {
  const items = codesOf(data).map((code) => ({
    name: outcomeName(data, code),
    fill: (theme: Theme) => errorFill(theme, code),
  }));
  return chips(items, room, text);
}

function table(
  info: TuningInfo,
  rows: readonly TaskRow[],
  room: number,
  text: TextWidths,
): FigurePart {
  const shown = rows.slice(0, TASKS);
  const columns = shownColumns(info, rows);
  const wide = columns.map(
    (name) =>
      18 +
      largest(
        [COLUMNS[name], ...shown.map((row) => row[name])].map((cell) => text.width(cell, SMALL)),
      ),
  );
  const numbers = wide.reduce((sum, column) => sum + column, 0);
  const names = shown.map((row) => text.fit(taskTitle(row.task), room - numbers, SMALL));
  const more = rows.length - shown.length;
  const below = [
    ...(more > 0 ? [`and ${counted(more, "more task")}`] : []),
    ...(shown.some((row) => row.gflops.endsWith("*")) ? ["* of a DAG that is only assumed"] : []),
  ];
  return {
    height: (shown.length + 1 + below.length) * LINE + 8,
    paint(pen, theme, top) {
      pen.font = `${SMALL}px ${theme.font}`;
      pen.textBaseline = "middle";
      const line = (at: number) => top + (at + 0.5) * LINE;
      const cells = (texts: readonly string[], at: number, color: string) => {
        pen.fillStyle = color;
        pen.textAlign = "right";
        let right = MARGIN + room - numbers;
        texts.forEach((text, column) => {
          right += wide[column]!;
          pen.fillText(text, right, line(at));
        });
        pen.textAlign = "left";
      };
      cells(
        columns.map((name) => COLUMNS[name]),
        0,
        theme.muted,
      );
      shown.forEach((row, at) => {
        cells(
          columns.map((name) => row[name]),
          at + 1,
          theme.text,
        );
        pen.fillText(names[at]!, MARGIN, line(at + 1));
      });
      pen.fillStyle = theme.muted;
      below.forEach((text, at) => {
        pen.fillText(text, MARGIN, line(shown.length + 1 + at));
      });
    },
  };
}

/** Loops of a schedule with colored keywords. */
function nest(schedule: ScheduleInfo, room: number, text: TextWidths): FigurePart {
  const shown = schedule.lines.slice(0, NEST);
  const more = schedule.lines.length - shown.length;
  const mono = `${SMALL}px ${MONO}`;
  const ruler = pencil(text);
  ruler.font = mono;
  const step = ruler.measureText("  ").width;
  const lines = shown.map((line) => {
    const [word, rest] = lineParts(line);
    const left = line.depth * step;
    const wide = word ? ruler.measureText(`${word} `).width : 0;
    const tail = `${rest.trimStart()}${factorText(line)}`;
    return { word, left, wide, rest: text.fit(tail, room - left - wide, SMALL, false, true) };
  });
  const notes = schedule.notes.flatMap((note) => text.wrap(note, room, SMALL, 2));
  const facts = schedule.facts.map(([name, value]) => `${name} ${value}`).join(" · ");
  const head = [schedule.title, ...text.wrap(facts, room, SMALL, 2), ...notes];
  return {
    height: head.length * LINE + (lines.length + (more > 0 ? 1 : 0)) * CODE_LINE + 8,
    paint(pen, theme, top) {
      pen.textBaseline = "middle";
      pen.textAlign = "left";
      head.forEach((line, at) => {
        pen.font = `${at ? "" : "600 "}${SMALL}px ${theme.font}`;
        pen.fillStyle = at ? theme.muted : theme.text;
        pen.fillText(line, MARGIN, top + (at + 0.5) * LINE);
      });
      pen.font = mono;
      const below = top + head.length * LINE + 4;
      lines.forEach(({ word, left, wide, rest }, at) => {
        const y = below + (at + 0.5) * CODE_LINE;
        pen.fillStyle = annotationColor(theme, word) || theme.text;
        if (word) pen.fillText(word, MARGIN + left, y);
        pen.fillStyle = theme.text;
        pen.fillText(rest, MARGIN + left + wide, y);
      });
      if (more > 0) {
        pen.fillStyle = theme.muted;
        pen.fillText(
          `… ${counted(more, "more line")}`,
          MARGIN,
          below + (lines.length + 0.5) * CODE_LINE,
        );
      }
    },
  };
}

function textOf(
  data: TuningData,
  rows: readonly TaskRow[],
  schedule: ScheduleInfo | null,
): string[] {
  const { info } = data;
  const lines = [`${info.title}: ${headline(data)}`];
  for (const finding of info.findings) lines.push(`${finding.severity}: ${finding.title}`);
  if (info.refused) lines.push(`${counted(info.refused, "line")} could not be read`);
  for (const row of rows.slice(0, TASKS)) {
    const failed = row.failed ? `, ${row.failed} failed` : "";
    lines.push(
      `${taskTitle(row.task)}: ${row.best}, ${row.trials} ${row.trials === "1" ? "trial" : "trials"}${failed}`,
    );
  }
  if (rows.length > TASKS) lines.push(`and ${counted(rows.length - TASKS, "more task")}`);
  if (schedule) {
    append(lines, [schedule.title, ...schedule.notes]);
    for (const line of schedule.lines.slice(0, MOST_LINES))
      lines.push(`${"  ".repeat(line.depth)}${line.text}${factorText(line)}`);
    const more = schedule.lines.length - MOST_LINES;
    if (more > 0) lines.push(`and ${counted(more, "more line")}`);
  }
  return lines;
}

function describe(
  scene: TrialScene,
  rows: readonly TaskRow[],
  schedule: ScheduleInfo | null,
): FigurePanel["description"] {
  const { data } = scene;
  const { info } = data;
  return {
    title: info.title,
    headline: headline(data),
    findings: info.findings.map(({ rule }) => rule),
    refused: info.refused,
    along: scene.along,
    task: scene.task < 0 ? null : scene.task,
    trial: scene.trial < 0 ? null : scene.trial,
    trial_range: scene.range,
    tasks: rows.map(({ task, best, trials, failed }) => ({
      task: task.index,
      best,
      trials,
      failed,
    })),
    loops: schedule?.lines.map(({ text }) => text) ?? [],
  };
}
