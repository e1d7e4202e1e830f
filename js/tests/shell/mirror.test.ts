// @vitest-environment happy-dom
import { expect, it } from "vitest";
import { Mirror } from "../../src/shell/dom.ts";

it("announces a late description unless a newer message was announced", () => {
  const mirror = new Mirror();
  mirror.tell("node 1", true);
  mirror.tell("node 1, faulty", true);
  expect(mirror.node.textContent).toBe("node 1, faulty");
  mirror.say("no path");
  mirror.tell("node 1, OK", true);
  expect(mirror.node.textContent).toBe("no path");
  mirror.tell("node 2");
  expect(mirror.node.textContent).toBe("node 2");
});

it("replaces the message that was current when the description was requested", () => {
  const mirror = new Mirror();
  mirror.tell("group, closed");
  mirror.say("open.");
  mirror.ask();
  mirror.tell("group, open", true);
  expect(mirror.node.textContent).toBe("group, open");
  mirror.ask();
  mirror.say("copied");
  mirror.tell("group, closed", true);
  expect(mirror.node.textContent).toBe("copied");
});
