import { mountGraph } from "../graph/mount.ts";
import type { Replaceable } from "../graph/parts.ts";
import type { PlacedScene } from "../graph/placed/placed_scene.ts";
import type { GraphView } from "../graph/view.ts";
import type { RunClient } from "../shared/client/run_client.ts";
import type { SessionClient } from "../shared/client/session_client.ts";
import { applyTheme } from "../shared/drawing/theme.ts";
import { element } from "../shared/ui/dom.ts";
import { withFullScreen } from "../shared/ui/full_screen.ts";
import type { ViewOptions } from "../shared/ui/view_options.ts";
import { CHANGE, type ComparisonData, LETTER, type Side, SPEED } from "./data.ts";
import { type ComparisonOptions, graphOptions } from "./options.ts";

/** What colors and labels call nodes that have no match. */
export const ALONE = "unmatched";
/** Behind which certainty they come: the color there is the farthest from those of what is matched, in both themes. */
const SURE = 1;

export interface PaneContext {
  data: ComparisonData;
  run: RunClient;
  session: SessionClient;
  options: ViewOptions<ComparisonOptions>;
  /** The graph was drawn, with another camera perhaps. */
  drawn: (view: GraphView) => void;
  /** Places the graph beside the other one. */
  place: (placed: PlacedScene, view: Replaceable) => PlacedScene;
  /** Somebody acts on this side. */
  touched: () => void;
  signal: AbortSignal;
}

/** One of the two graphs, under the title of its run. */
export class Pane {
  readonly node: HTMLElement;
  readonly root = element("div");
  readonly #side: Side;
  readonly #context: PaneContext;
  #isDrawn = false;

  constructor(side: Side, context: PaneContext) {
    this.#side = side;
    this.#context = context;
    const { signal } = context;
    this.node = element(
      "div",
      { class: "tvmdbg-comparison-pane", "data-side": LETTER[side].toLowerCase() },
      this.root,
    );
    for (const type of ["pointerdown", "wheel", "keydown"] as const) {
      this.root.addEventListener(type, () => context.touched(), {
        signal,
        capture: true,
        passive: true,
      });
    }
    this.root.addEventListener(
      "tvmdbg:drawn",
      (event) => {
        const view = (event as CustomEvent<GraphView>).detail;
        // Beside two graphs there is room for the details of none, until they are asked for.
        if (!this.#isDrawn) view.showDetails(false);
        this.#isDrawn = true;
        context.drawn(view);
      },
      { signal },
    );
  }

  async mount(): Promise<void> {
    const { data, run, session, options, signal } = this.#context;
    applyTheme(this.root, signal);
    const graph = await run.graph();
    if (signal.aborted) return;
    const { certainties } = data.info;
    const classes = [...certainties.slice(0, SURE + 1), ALONE, ...certainties.slice(SURE + 1)];
    const codes = data
      .codes(this.#side, graph?.kinds.length ?? 0)
      .map((code) => classes.indexOf(certainties[code] ?? ALONE));
    const match = {
      of: "nodes" as const,
      unit: "",
      scale: "linear" as const,
      range: null,
      together: "largest" as const,
      classes,
      ordered: true,
      hatched: classes.indexOf(ALONE),
      data: new DataView(codes.buffer),
    };
    const change = data.change(this.#side);
    const changed = change && {
      of: "nodes" as const,
      unit: "ns",
      scale: "diverging" as const,
      range: change.most > 0 ? ([-change.most, change.most] as [number, number]) : null,
      together: "sum" as const,
      classes: null,
      note: change.note,
      data: viewOf(change.values),
    };
    const speed = data.speed(this.#side);
    const sped = speed && {
      of: "nodes" as const,
      unit: "×",
      scale: "diverging" as const,
      range: data.info.speedRange,
      note: data.info.speedNotes[this.#side] ?? "",
      together: "ratio" as const,
      classes: null,
      data: viewOf(speed.ratio),
      terms: [viewOf(speed.terms[0]), viewOf(speed.terms[1])] as const,
    };
    const columns = {
      ...(sped && { [SPEED]: sped }),
      match,
      ...(changed && { [CHANGE]: changed }),
    };
    const title = data.info.titles[this.#side];
    await mountGraph(this.root, {
      run,
      session,
      title: element(
        "span",
        { class: "tvmdbg-title tvmdbg-comparison-title", title },
        element("strong", {}, LETTER[this.#side]),
        ` ${title}`,
      ),
      isBeside: true,
      opensOn: data.answer(this.#side),
      place: this.#context.place,
      options: withFullScreen(
        this.root,
        graphOptions(options, { _color_columns: columns }),
        signal,
      ),
      signal,
    });
    const bar = this.root.querySelector(":scope > .tvmdbg-bar");
    bar?.setAttribute("aria-label", `graph ${LETTER[this.#side]}`);
    this.root.setAttribute(
      "aria-label",
      `Graph ${LETTER[this.#side]}, ${data.info.titles[this.#side]}: arrow keys walk along edges, ? lists all keys`,
    );
  }
}

function viewOf(values: Float64Array): DataView {
  return new DataView(Float64Array.from(values).buffer);
}
