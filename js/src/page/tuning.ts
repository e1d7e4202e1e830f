/** Entry of a page that shows a tuning log. */

import type { ColumnHeader } from "../shared/client/columns.ts";
import type { StaticModel } from "../shared/client/page_model.ts";
import { errorText } from "../shared/client/request.ts";
import { element } from "../shared/ui/dom.ts";
import tuning from "../tuning/tuning.ts";
import { type SavedPage, start, themeToggle } from "./models.ts";
import { fromBase64, say, sayFailed, unpacked } from "./status.ts";

interface PackedAnswer {
  info: unknown;
  columns: ColumnHeader[];
  /** base64 */
  buffer: string;
}

/** What `export/model_explorer.py` stores. */
interface StoredLog {
  tuning: PackedAnswer;
  schedules: Record<string, unknown>;
  tiles: Record<string, PackedAnswer>;
  /** Tables by property; without omitted rows. */
  errors: Record<string, unknown>;
}

interface TuningPageSettings {
  models: Record<string, Record<string, unknown>>;
}

interface TuningQuestion {
  id?: string;
  kind?: string;
  trial?: number;
  task?: number;
  by?: string;
}

const LEAST_HEIGHT = 560;
const BELOW = 16;

/** Replies like the kernel's, from the stored data. */
function answer(
  stored: StoredLog,
  { kind, trial, task, by }: TuningQuestion,
): [unknown, DataView[]] {
  if (kind === "tuning") return packed(stored.tuning);
  if (kind === "schedule") return [entryOf(stored.schedules, trial, "schedule"), []];
  if (kind === "tiles") return packed(entryOf(stored.tiles, task, "tile sizes") as PackedAnswer);
  if (kind === "errors" && by && Object.hasOwn(stored.errors, by)) return [stored.errors[by], []];
  throw new Error("This page has no kernel, which this needs: open the log in a notebook.");
}

function entryOf(of: Record<string, unknown>, key: number | undefined, what: string): unknown {
  const name = String(key);
  if (Object.hasOwn(of, name)) return of[name];
  throw new Error(
    `This page does not hold this ${what}, only those of the best trials: open the log in a notebook.`,
  );
}

function packed({ info, columns, buffer }: PackedAnswer): [unknown, DataView[]] {
  return [{ info, columns }, [new DataView(fromBase64(buffer).buffer)]];
}

async function show({ models }: TuningPageSettings): Promise<void> {
  const stored = JSON.parse(new TextDecoder().decode(await unpacked("tvmdbg-data"))) as StoredLog;
  const place = document.getElementById("tvmdbg-views")!;
  document.getElementById("tvmdbg-static")!.hidden = true;
  say("");
  const started = await start(
    { tuning },
    {
      models,
      views: [{ view: "tuning", model: "view", element: place }],
      ask: async (message) => {
        const question = message as TuningQuestion;
        try {
          const [result, buffers] = answer(stored, question);
          return { content: { id: question.id, result }, buffers };
        } catch (error) {
          return { content: { id: question.id, error: errorText(error) }, buffers: [] };
        }
      },
    },
  );
  stretch(started.models.view!, place);
  document.getElementById("tvmdbg-tools")?.append(element("span", {}, themeToggle()));
  document.documentElement.dataset.started = "true";
}

function stretch(model: StaticModel, place: HTMLElement): void {
  const apply = () => {
    const free = innerHeight - place.getBoundingClientRect().top - scrollY - BELOW;
    model.set("height", Math.max(LEAST_HEIGHT, Math.floor(free)));
  };
  apply();
  addEventListener("resize", apply);
}

/** Offers `start` to a page of the caller's own; shows the log that this page carries, if any. */
(globalThis as typeof globalThis & { tvmdbgPage?: object }).tvmdbgPage = {
  start: (page: SavedPage) => start({ tuning }, page),
};
const text = document.getElementById("tvmdbg-settings")?.textContent;
if (text) {
  const begin = () => void show(JSON.parse(text) as TuningPageSettings).catch(sayFailed);
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", begin);
  else begin();
}
