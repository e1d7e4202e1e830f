import type { RunClient } from "../../shared/client/run_client.ts";
import { Flows } from "../data/flows.ts";
import { CounterBand } from "./counters.ts";
import type { Scene } from "./scene.ts";

/** Asks for what is drawn beside the slices, once they are on the screen: counters below, arrows between. */
export function addExtras(
  run: RunClient,
  scene: Scene,
  changed: () => void,
  signal: AbortSignal,
): void {
  const later = async () => {
    const [counters, flows] = await Promise.allSettled([run.counters(), run.flows()]);
    if (signal.aborted) return;
    if (counters.status === "fulfilled" && counters.value) {
      const { value } = counters;
      scene.bands = Array.from(
        { length: value.names.length },
        (_, counter) => new CounterBand(scene, value, counter),
      );
    }
    if (flows.status === "fulfilled" && flows.value?.flowFrom.length) {
      scene.flows = new Flows(flows.value);
    }
    if (scene.bands.length || scene.flows) changed();
  };
  requestAnimationFrame(() => void later());
}

/** What the counters are at the start of the slice that the view speaks of, else at the left edge. */
export function counterSentence(scene: Scene): string {
  const { slices, current, viewport, bands } = scene;
  const ns = current >= 0 ? slices.startOf(current) : viewport.start;
  const said = bands.map((band) => (band instanceof CounterBand ? band.sentence(ns) : ""));
  return said.filter(Boolean).join("; ") || "this run has no counters";
}
