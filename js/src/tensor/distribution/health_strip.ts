import type { GraphColumns, TensorColumns } from "../../shared/client/answers.ts";
import {
  healthScan,
  isSuspicious,
  isUnderWay,
  nextSuspicious,
  opensOn,
  type Scan,
  VERDICT_LABELS,
} from "../../shared/client/health.ts";
import { errorText, isAbort } from "../../shared/client/request.ts";
import type { Entry, HealthAnswer } from "../../shared/client/tensor_questions.ts";
import type { Layer } from "../../shared/drawing/canvas.ts";
import type { Theme } from "../../shared/drawing/theme.ts";
import { tensorTitle } from "../../shared/format.ts";
import { button, element, KEEP_KEYS, listening, relabel, span } from "../../shell/dom.ts";
import { Stage, type StagePainters } from "../../shell/stage.ts";
import { Tooltip } from "../../shell/tooltip.ts";
import { TensorPart } from "../parts.ts";
import type { TensorHost } from "../state.ts";
import {
  entryLines,
  type Judgement,
  sentence,
  stateWords,
  suspiciousBeside,
} from "./health_pill.ts";
import {
  columnOf,
  HEIGHT,
  type HealthScene,
  healthScene,
  paintCurrent,
  paintHealth,
  paintNoted,
  rowAt,
} from "./health_scene.ts";

interface HealthInspection {
  marks?: { entry: Entry; verdict: string; x: number; y: number; width: number; height: number }[];
}

const LANES =
  "One column per tensor in execution order; from the top: verdict; range (log; NaN and Inf); zeros; saturated; dead channels";

/** Strip of a run's entries in execution order, colored by health; one click leads to the first NaN. */
export class HealthStrip
  extends TensorPart<{ judge(judged: Judgement | null): void }>
  implements StagePainters
{
  readonly node = element("div", {
    class: "tvmdbg-health tvmdbg-row tvmdbg-wrap tvmdbg-line-below",
    role: "group",
    "aria-label": "health of the run",
  });
  readonly #stage = element("div", {
    class: "tvmdbg-health-stage",
    role: "slider",
    tabindex: 0,
    "aria-label": "tensors in execution order",
    "aria-valuemin": 0,
    ...KEEP_KEYS,
  });
  readonly tip = new Tooltip(this.host.signal);
  readonly #state = span("tvmdbg-nowrap tvmdbg-numeric");
  /** A live region of its own: it speaks once, at the end of the scan. */
  readonly #spoken = element("div", { class: "tvmdbg-mirror", role: "status" });
  readonly #firstInf = button("first Inf", "go to the first tensor with Inf", () =>
    this.#go(this.#health!.firstNonfinite),
  );
  readonly #firstNan = button("first NaN", "go to the first tensor with NaN", () =>
    this.#go(this.#health!.firstNan),
  );
  readonly #worst = button("", "", () => this.#go(nextSuspicious(this.#health!, this.#row)));
  readonly #stop = button("stop", "stop scanning the tensors", () => this.#stopOrGoOn());
  readonly #scan: Scan<HealthAnswer>;
  readonly #lanes = new Stage(this.host.root, "", () => this, this.host.signal, this.#stage);
  #health: HealthAnswer | null = null;
  #fault = false;
  #names: TensorColumns | null = null;
  #graph: GraphColumns | null = null;
  #scene: HealthScene | null = null;
  #entry: Entry | null = null;
  #row = -1;
  #hovered = -1;
  #noted: ReadonlySet<number> = new Set();

  constructor(host: TensorHost, header: { judge(judged: Judgement | null): void }) {
    super(host, header);
    const { run, signal } = host;
    this.#scan = healthScan(run, this, signal);
    this.#stage.style.height = `${HEIGHT}px`;
    this.node.append(
      element("span", { class: "tvmdbg-muted", title: LANES }, "health"),
      this.#stage,
      this.#state,
      this.#stop,
      this.#firstInf,
      this.#firstNan,
      this.#worst,
      this.#spoken,
    );
    this.#listen(signal);
    this.#showButtons();
    this.#state.textContent = "…";
    void this.#scan.start();
    Promise.all([run.ask("tensors"), run.ask("graph")]).then(
      ([tensors, graph]) => {
        this.#names = tensors;
        this.#graph = graph;
        this.#speak();
      },
      () => {},
    );
  }

  show(entry: Entry | null): void {
    this.#entry = entry;
    this.#locate();
  }

  note(nodes: Iterable<number>): void {
    this.#noted = new Set(nodes);
    this.#lanes.touched();
  }

  answered(health: HealthAnswer): void {
    const opens = isUnderWay(health) ? null : opensOn(health);
    if (opens && health.node.includes(opens[0]) && !this.#fault) {
      this.#fault = true;
      this.host.openAt(opens);
    }
    this.#health = health;
    this.node.hidden = health.total === 0;
    this.node.dataset.state = health.state;
    this.#state.textContent = this.#state.title = stateWords(health);
    this.#state.classList.toggle("tvmdbg-muted", !health.verdict.some(isSuspicious));
    this.#stage.setAttribute("aria-valuemax", String(Math.max(0, health.total - 1)));
    if (!isUnderWay(health)) this.#spoken.textContent = sentence(health);
    this.#scene = null;
    this.#locate();
    this.#lanes.changed();
  }

  failed(error: unknown): void {
    if (isAbort(error)) return;
    this.#state.textContent = "unknown";
    this.#state.title = errorText(error);
    this.#spoken.textContent = `The health of the run could not be computed: ${errorText(error)}`;
  }

  #stopOrGoOn(): void {
    if (this.#health?.state === "cancelled") void this.#scan.start(true);
    else void this.#scan.stop();
    this.#stage.focus({ preventScroll: true });
  }

  #locate(): void {
    const [health, entry] = [this.#health, this.#entry];
    const isShown = (node: number, row: number) =>
      node === entry?.[0] && health!.output[row] === entry[1];
    const row = health?.node.findIndex(isShown) ?? -1;
    this.#row = row;
    this.beside.judge(
      health && row >= 0 ? { verdict: health.verdict[row]!, brief: health.brief[row] ?? "" } : null,
    );
    this.#showButtons();
    this.#speak();
    this.#lanes.touched();
  }

  #showButtons(): void {
    const health = this.#health;
    const [inf, nan] = [health?.firstNonfinite ?? -1, health?.firstNan ?? -1];
    const holdsNan = inf >= 0 && health!.nan[inf]! > 0;
    this.#firstInf.hidden = inf < 0 || holdsNan;
    this.#firstNan.hidden = nan < 0;
    const next = health ? nextSuspicious(health, this.#row) : -1;
    this.#worst.hidden = next < 0;
    if (next >= 0) {
      const first = health!.rank[next] === 0 || !isSuspicious(health!.verdict[this.#row] ?? 0);
      const title = first ? "go to the worst tensor" : "go to the next worst tensor";
      relabel(this.#worst, first ? "worst" : "next worst", title);
    }
    const stopped = health?.state === "cancelled";
    this.#stop.hidden = health?.state !== "scanning" && !stopped;
    const act = stopped ? "resume" : "stop";
    relabel(this.#stop, act, `${act} scanning the tensors`);
  }

  #speak(): void {
    const health = this.#health;
    this.#stage.setAttribute("aria-valuenow", String(Math.max(0, this.#row)));
    this.#stage.setAttribute(
      "aria-valuetext",
      health && this.#row >= 0
        ? `tensor ${this.#row + 1} of ${health.total}: ${this.#lines(this.#row).join("; ")}`
        : "no tensor",
    );
  }

  #lines(row: number, others = 0): string[] {
    const health = this.#health!;
    const names = this.#names;
    const [node, output] = [health.node[row]!, health.output[row]!];
    const known = names?.node[row] === node ? names.names.at(row) : "";
    return entryLines(health, row, tensorTitle(this.#graph, known, node, output), others);
  }

  #go(row: number): void {
    const health = this.#health;
    if (!health || !(row >= 0 && row < health.total)) return;
    this.host.pick([health.node[row]!, health.output[row]!]);
  }

  #listen(signal: AbortSignal): void {
    const stage = this.#stage;
    const at = (event: PointerEvent) =>
      this.#scene && this.#health
        ? rowAt(this.#scene, this.#health, event.clientX - stage.getBoundingClientRect().left)
        : -1;
    const listen = listening(stage, signal);
    listen("pointermove", (event) => this.#hover(at(event)));
    listen("pointerleave", () => this.#hover(-1));
    listen("pointerdown", (event) => {
      if (event.button === 0) this.#go(at(event));
    });
    listen("keydown", (event) => this.#key(event));
    this.node.addEventListener(
      "tvmdbg:inspect",
      (event) => this.#inspect((event as CustomEvent<HealthInspection>).detail),
      { signal },
    );
  }

  #key(event: KeyboardEvent): void {
    const health = this.#health;
    if (event.ctrlKey || event.altKey || event.metaKey || !health) return;
    const last = health.total - 1;
    const row = Math.max(0, this.#row);
    const targets: Record<string, () => number> = {
      ArrowLeft: () => Math.max(0, row - 1),
      ArrowDown: () => Math.max(0, row - 1),
      ArrowRight: () => Math.min(last, this.#row + 1),
      ArrowUp: () => Math.min(last, this.#row + 1),
      Home: () => 0,
      End: () => last,
      PageUp: () => suspiciousBeside(health, this.#row, -1),
      PageDown: () => suspiciousBeside(health, this.#row, 1),
      Enter: () => (this.#hovered >= 0 ? this.#hovered : nextSuspicious(health, this.#row)),
    };
    if (event.key === "Escape") this.host.leave();
    else if (targets[event.key]) this.#go(targets[event.key]!());
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #hover(row: number): void {
    this.#hovered = row;
    this.#lanes.touched();
    if (row < 0 || !this.#scene) {
      this.tip.hide();
      return;
    }
    const column = columnOf(this.#scene, row);
    const others = this.#scene.start[column + 1]! - this.#scene.start[column]! - 1;
    const { width } = this.#scene;
    const target = { x: column * width, y: 0, width, height: HEIGHT };
    this.tip.tell(this.#lines(row, others), this.#stage, target.x, HEIGHT, target);
  }

  base(theme: Theme, width: number, _height: number, { context }: Layer): void {
    if (!this.#health) return;
    this.#scene = healthScene(this.#health, width);
    paintHealth(context, this.#scene, theme);
    this.node.dataset.ready = "true";
  }

  over(theme: Theme, _width: number, _height: number, { context }: Layer): void {
    const [health, scene] = [this.#health, this.#scene];
    if (!health || !scene) return;
    if (this.#noted.size) {
      for (let column = 0; column < scene.count; column++) {
        const nodes = health.node.subarray(scene.start[column]!, scene.start[column + 1]!);
        if (nodes.some((node) => this.#noted.has(node))) paintNoted(context, scene, column, theme);
      }
    }
    if (this.#hovered >= 0) {
      context.globalAlpha = 0.5;
      paintCurrent(context, scene, columnOf(scene, this.#hovered), theme);
      context.globalAlpha = 1;
    }
    if (this.#row >= 0) paintCurrent(context, scene, columnOf(scene, this.#row), theme);
  }

  #inspect(out: HealthInspection): void {
    const [health, scene] = [this.#health, this.#scene];
    if (!health || !scene) return;
    out.marks = Array.from(scene.row, (row, column) => ({
      entry: [health.node[row]!, health.output[row]!],
      verdict: VERDICT_LABELS[scene.verdict[column]!]!,
      x: column * scene.width,
      y: 0,
      width: scene.width,
      height: HEIGHT,
    }));
  }
}
