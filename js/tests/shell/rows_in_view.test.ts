// @vitest-environment happy-dom
import { expect, it } from "vitest";
import { RowsInView } from "../../src/shell/scrolling.ts";

function made(length: number) {
  const [scroller, body] = [document.createElement("div"), document.createElement("div")];
  scroller.append(body);
  Object.defineProperty(scroller, "clientHeight", { value: 100 });
  const make = (place: number) => {
    const row = document.createElement("p");
    row.textContent = `row ${place}`;
    return row;
  };
  const rows = new RowsInView(scroller, body, 20, make, new AbortController().signal);
  rows.length = length;
  rows.paint();
  return { rows, scroller, body };
}

it("renders only the visible rows and a few more", () => {
  const { scroller, body } = made(1_000_000);
  expect([body.style.height, body.children.length]).toEqual(["20000000px", 5 + 13]);
  scroller.scrollTop = 2000;
  scroller.dispatchEvent(new Event("scroll"));
  const places = [...body.children].map((each) => Number((each as HTMLElement).dataset.place));
  expect([places[0], places.at(-1)]).toEqual([94, 111]);
});

it("shows a placeholder instead of rows, even after scrolling", () => {
  const { rows, scroller, body } = made(0);
  rows.none = () => [Object.assign(document.createElement("p"), { textContent: "loading" })];
  rows.paint();
  scroller.dispatchEvent(new Event("scroll"));
  expect(body.textContent).toBe("loading");
});

it("steps by keys within its rows", () => {
  const { rows } = made(10);
  expect(rows.page).toBe(4);
  const to = (key: string, from: number) => rows.placeByKey(key, from);
  expect([to("ArrowUp", -1), to("ArrowDown", 9), to("PageDown", 3), to("End", 0)]).toEqual([
    0, 9, 7, 9,
  ]);
  expect([to("x", 3), made(0).rows.placeByKey("Home", -1)]).toEqual([null, -1]);
});

it("scrolls rows into view, and gives a class to a single row", () => {
  const { rows, scroller, body } = made(50);
  rows.reveal(10);
  expect(scroller.scrollTop).toBe(120);
  rows.reveal(2);
  expect(scroller.scrollTop).toBe(40);
  rows.mark("current", 3);
  rows.paint();
  expect([...body.querySelectorAll(".current")].map((each) => each.textContent)).toEqual(["row 3"]);
});
