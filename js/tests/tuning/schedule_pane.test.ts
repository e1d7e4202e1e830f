// @vitest-environment happy-dom
import { expect, it } from "vitest";
import type { ScheduleInfo } from "../../src/tuning/client.ts";
import { SchedulePane } from "../../src/tuning/schedule_pane.ts";

function schedule(trial: number): ScheduleInfo {
  const nothing = { facts: [], lines: [], steps: [], tiles: [], notes: [], python: "" };
  return { trial, title: `trial ${trial}`, ...nothing };
}

it("shows the trial chosen last, also if another was awaited meanwhile", async () => {
  const pane = new SchedulePane(document.createElement("div"), { isSaved: true, pin() {} });
  await pane.show(1, Promise.resolve(schedule(1)));
  const other = pane.show(2, Promise.resolve(schedule(2)));
  expect([pane.shown?.trial, pane.asked]).toEqual([1, 2]);
  await Promise.all([other, pane.show(1, Promise.resolve(schedule(1)))]);
  expect(pane.node.querySelector("strong")!.textContent).toBe("trial 1");
  await pane.show(3, Promise.reject(new Error("no such record")));
  expect([pane.shown, pane.asked]).toEqual([null, -1]);
});
