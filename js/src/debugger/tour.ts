import {
  goToStep,
  type SessionClient,
  stepOf,
  type TourStep,
  tourOf,
} from "../shared/client/session_client.ts";
import { button, element, KEEP_KEYS } from "../shared/ui/dom.ts";

const KEYS: Record<string, number> = { ArrowRight: 1, n: 1, ArrowLeft: -1, p: -1 };
const SCROLL = 40;

export interface Tour {
  node: HTMLElement;
  /** Shows the tour again where it was left, or from its start. */
  toggle: HTMLButtonElement;
}

/** The prose of the session's tour, step by step; `onStep` hears which view the step speaks of. */
export function tourBar(
  root: HTMLElement,
  session: SessionClient,
  onStep: (view: TourStep["view"]) => void,
  signal: AbortSignal,
): Tour {
  const prose = element("div", { class: "tvmdbg-tour-prose", "aria-live": "polite" });
  const place = element("span", { class: "tvmdbg-tour-place" });
  const go = (by: number) => {
    const step = (stepOf(session) ?? 0) + by;
    if (step >= 0 && step < tourOf(session).length) goToStep(session, step);
  };
  const back = button("‹ back", "Previous step (← or p)", () => go(-1));
  const next = button("next ›", "Next step (→ or n)", () => go(1));
  const close = button("close", "Close the tour (Esc)", () => leave());
  const node = element(
    "section",
    {
      class: "tvmdbg-tour",
      role: "group",
      tabindex: 0,
      "aria-roledescription": "tour",
      "aria-label": "Tour: arrow keys right and left, or n and p, go through its steps",
      hidden: true,
      ...KEEP_KEYS,
    },
    prose,
    element(
      "div",
      { class: "tvmdbg-tour-steps" },
      place,
      back,
      next,
      close,
      element("span", { class: "tvmdbg-muted tvmdbg-tour-keys" }, "keys: ← → or p n, Esc"),
    ),
  );
  let left = 0;
  const leave = () => {
    left = stepOf(session) ?? 0;
    goToStep(session, null);
    toggle.focus();
  };
  const toggle = button("tour", "Show or hide the tour", () => {
    if (stepOf(session) !== null) leave();
    else {
      goToStep(session, Math.min(left, tourOf(session).length - 1));
      node.focus({ preventScroll: true });
    }
  });
  const show = () => {
    const [tour, tourStep] = [tourOf(session), stepOf(session)];
    const step = tourStep === null ? null : tour[tourStep]!;
    const focused = node.contains(document.activeElement);
    toggle.hidden = tour.length === 0;
    toggle.setAttribute("aria-pressed", String(step !== null));
    node.hidden = step === null;
    if (step) root.tabIndex = -1;
    else root.removeAttribute("tabindex");
    onStep(step?.view ?? null);
    if (!step) return;
    prose.replaceChildren(...paragraphs(step.text).map((text) => element("p", {}, text)));
    prose.scrollTop = 0;
    place.textContent = `step ${tourStep! + 1} / ${tour.length}`;
    // A button that is disabled loses the focus, and the keys with it.
    back.ariaDisabled = String(tourStep === 0);
    next.ariaDisabled = String(tourStep === tour.length - 1);
    if (focused && !node.contains(document.activeElement)) node.focus({ preventScroll: true });
  };
  const key = (event: KeyboardEvent) => {
    const inside = node.contains(event.target as Node) || event.target === root;
    if (!inside || node.hidden || event.ctrlKey || event.altKey || event.metaKey) return;
    const by = KEYS[event.key];
    if (by !== undefined) go(by);
    else if (event.key === "Escape") leave();
    else if (event.key === "ArrowDown") prose.scrollBy(0, SCROLL);
    else if (event.key === "ArrowUp") prose.scrollBy(0, -SCROLL);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  root.addEventListener("keydown", key, { signal });
  session.onChange(show, signal, ["tour", "tour_step"]);
  show();
  return { node, toggle };
}

/** The paragraphs of a text: what stands between empty lines. */
export function paragraphs(text: string): string[] {
  return text
    .split(/\n\s*\n/)
    .map((each) => each.trim())
    .filter((each) => each !== "");
}
