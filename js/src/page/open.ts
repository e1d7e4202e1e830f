import { clientOf } from "../shared/client/client.ts";
import type { AnswerMessage, StaticModel } from "../shared/client/page_model.ts";
import { element } from "../shell/dom.ts";
import { Address } from "./address.ts";
import { copyLink, type SavedPage, type StartedPage, start, themeToggle } from "./models.ts";
import { say, sayFailed, unpacked } from "./status.ts";
import { type StoredAnswers, type StoredData, storedAnswers } from "./stored_data.ts";

interface PageSettings {
  view: string;
  models: SavedPage["models"];
  /** The view of a debugger with the focus at first. */
  start?: string | null;
  /** True if the page is a frame of another one, which gives it its height. */
  embedded?: boolean;
}

/** Id of the second run's data. */
const SECOND = "tvmdbg-data-b";
const LEAST_HEIGHT = 120;
/** Height of a view with automatic height if the page has none. */
const AUTO_HEIGHT = 760;
const BELOW = 16;
const NARROW = 760;
const ROUNDS = 3;

interface Page {
  views: Readonly<Record<string, unknown>>;
  /** Replies to questions, from the data that the page carries. */
  replies: (data: ArrayBuffer) => AnswerMessage;
  /** Completes the page once its views are shown. */
  shown: (started: StartedPage, settings: PageSettings, place: HTMLElement) => unknown;
}

/** Offers `start` to a page of the caller's own; shows what this page carries, if anything. */
export function openPage(page: Page): void {
  const global = globalThis as typeof globalThis & { tvmdbgPage?: object };
  const own = { start: (saved: SavedPage) => start(page.views, saved) };
  global.tvmdbgPage = own;
  const text = document.getElementById("tvmdbg-settings")?.textContent;
  if (!text) return;
  const settings = JSON.parse(text) as PageSettings;
  const begin = () => {
    show(page, settings)
      .then((started) => Object.assign(own, started))
      .then(() => {
        document.documentElement.dataset.started = "true";
      })
      .catch(sayFailed);
  };
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", begin);
  else begin();
}

async function show({ views, replies, shown }: Page, settings: PageSettings): Promise<StartedPage> {
  const ask = replies(await unpacked("tvmdbg-data"));
  const askSecond = document.getElementById(SECOND) && replies(await unpacked(SECOND));
  const place = document.getElementById("tvmdbg-views")!;
  document.getElementById("tvmdbg-static")!.hidden = true;
  say("");
  let started: StartedPage;
  try {
    started = await start(views, {
      models: settings.models,
      views: [{ view: settings.view, model: "view", element: place }],
      ask: (message, model) => (askSecond && model === "run_b" ? askSecond : ask)(message),
    });
  } catch (error) {
    place.replaceChildren();
    document.getElementById("tvmdbg-static")!.hidden = false;
    throw error;
  }
  stretch(started.models.view!, place, settings);
  await shown(started, settings, place);
  return started;
}

interface RunBundle {
  views: Page["views"];
  /** Answers that are no recordings. */
  answers?: (data: StoredData) => StoredAnswers;
}

/** Opens the page of a saved run. */
export function open({ views, answers }: RunBundle): void {
  openPage({ views, replies: (data) => storedAnswers(data, answers), shown: showRun });
}

async function showRun(
  { models }: StartedPage,
  settings: PageSettings,
  place: HTMLElement,
): Promise<void> {
  const client = clientOf(models.run as never, "anywidget:run", new AbortController().signal);
  const panels = new DebuggerViews(place, models.view!);
  const address = new Address(models.session!, client, panels);
  if (!settings.embedded)
    addTools(
      copyLink(() => address.link),
      themeToggle(),
    );
  showTitleOnce();
  if (settings.start) panels.show(settings.start, !settings.embedded);
  if (location.hash) await address.follow();
}

export function addTools(...tools: HTMLElement[]): void {
  document.getElementById("tvmdbg-tools")?.append(element("span", {}, ...tools));
}

/** Hides the run's title in the view, since the page's head has it; a title of the reader's own stays. */
function showTitleOnce(): void {
  const own = document.querySelector<HTMLElement>("#tvmdbg-views .tvmdbg-debugger .tvmdbg-title");
  if (own) own.hidden = own.textContent === document.querySelector("h1")?.textContent;
}

/** The views of a debugger; a page of one view has no names to choose from. */
class DebuggerViews {
  readonly #place: HTMLElement;
  readonly #model: StaticModel;

  constructor(place: HTMLElement, model: StaticModel) {
    this.#place = place;
    this.#model = model;
  }

  get names(): string[] {
    return this.#all.map((panel) => panel.dataset.view!);
  }

  readonly current = (): string | null =>
    this.#all.find((panel) => panel.contains(document.activeElement))?.dataset.view ?? null;

  readonly show = (view: string, focus = true): void => {
    const collapsed = this.#model.get("collapsed") as string[];
    if (collapsed.includes(view)) {
      this.#model.set(
        "collapsed",
        collapsed.filter((name) => name !== view),
      );
    }
    const panel = this.#all.find((candidate) => candidate.dataset.view === view);
    if (!panel) return;
    panel.scrollIntoView({ block: "nearest" });
    if (focus) panel.querySelector<HTMLElement>("[tabindex]")?.focus({ preventScroll: true });
  };

  get #all(): HTMLElement[] {
    return [...this.#place.querySelectorAll<HTMLElement>(".tvmdbg-panel[data-view]")];
  }
}

/** Gives the view the free height of the window, or of the frame around the page. */
function stretch(model: StaticModel, place: HTMLElement, { embedded }: PageSettings): void {
  const wished = Number(model.get("height")) || AUTO_HEIGHT;
  const free = () => {
    if (embedded) return place.clientHeight;
    if (place.clientWidth < NARROW) return wished;
    return Math.floor(innerHeight - place.getBoundingClientRect().top - scrollY - BELOW);
  };
  const apply = () => {
    model.set("height", Math.max(embedded ? LEAST_HEIGHT : wished, free()));
    // Stacked views take more than the height they are given.
    for (let i = 0; embedded && i < ROUNDS && place.querySelector(".tvmdbg-narrow"); i++) {
      const over = place.scrollHeight / place.clientHeight;
      if (over > 1) model.set("height", Math.floor(Number(model.get("height")) / over));
    }
  };
  apply();
  addEventListener("resize", apply);
}
