// @vitest-environment happy-dom
import { beforeAll, describe, expect, it, vi } from "vitest";
import { SvgCanvas } from "../../src/graph/panels/export_picture.ts";

beforeAll(() => {
  vi.spyOn(HTMLCanvasElement.prototype, "getContext").mockImplementation((() => ({
    font: "",
    textBaseline: "",
    measureText(text: string) {
      const baseline = (this as { textBaseline: string }).textBaseline;
      return { width: 7 * text.length, actualBoundingBoxAscent: baseline === "middle" ? 2 : 6 };
    },
  })) as never);
});

function recorded(draw: (context: SvgCanvas) => void): Element {
  const context = new SvgCanvas();
  draw(context);
  const text = context.text(100, 50, "a <title>");
  const document = new DOMParser().parseFromString(text, "image/svg+xml");
  expect(document.querySelector("parsererror")).toBeNull();
  return document.documentElement;
}

const paths = (root: Element) =>
  Array.from(root.querySelectorAll("svg > path, svg > g > path"), (each) => each.getAttribute("d"));

describe("a recorded drawing", () => {
  it("has the size and the title of the picture", () => {
    const root = recorded(() => {});
    expect(root.getAttribute("viewBox")).toBe("0 0 100 50");
    expect(root.querySelector("title")!.textContent).toBe("a <title>");
  });

  it("merges rectangles of the same fill into one path", () => {
    const root = recorded((context) => {
      context.fillStyle = "red";
      context.fillRect(1, 2, 3, 4);
      context.fillRect(5, 6, 7, 8.001);
      context.fillStyle = "blue";
      context.fillRect(0, 0, 1, 2);
    });
    expect(paths(root)).toEqual(["M1 2h3v4h-3zM5 6h7v8h-7z", "M0 0h1v2h-1z"]);
  });

  it("strokes with width, dashes and opacity", () => {
    const root = recorded((context) => {
      context.strokeStyle = "#123456";
      context.lineWidth = 1.25;
      context.globalAlpha = 0.5;
      context.setLineDash([3, 2]);
      context.beginPath();
      context.moveTo(0, 0);
      context.lineTo(10, 5);
      context.stroke();
    });
    const path = root.querySelector("svg > path")!;
    expect(path.getAttribute("d")).toBe("M0 0l10 5");
    expect(path.getAttribute("stroke-dasharray")).toBe("3 2");
    expect(path.getAttribute("stroke-width")).toBe("1.25");
    expect(path.getAttribute("stroke-opacity")).toBe("0.5");
    expect(path.getAttribute("fill")).toBe("none");
  });

  it("rounds line corners in the direction of the turn", () => {
    const [right, left, straight] = [
      [10, 10],
      [10, -10],
      [20, 0],
    ].map(([x, y]) =>
      paths(
        recorded((context) => {
          context.beginPath();
          context.moveTo(0, 0);
          context.arcTo(10, 0, x!, y!, 4);
          context.lineTo(x!, y!);
          context.stroke();
        }),
      ).join(),
    );
    expect(right).toBe("M0 0h6a4 4 0 0 1 4 4v6");
    expect(left).toBe("M0 0h6a4 4 0 0 0 4 -4v-6");
    expect(straight).toBe("M0 0h10h10");
  });

  it("keeps round corners within the rectangle", () => {
    const root = recorded((context) => {
      context.beginPath();
      context.roundRect(0, 0, 10, 4, 9);
      context.fill();
      context.beginPath();
      context.roundRect(0, 0, 5, 20, [4, 0, 0, 4]);
      context.fill();
    });
    const box = root.querySelector("rect")!;
    const sides = ["x", "y", "width", "height", "rx"].map((name) => box.getAttribute(name));
    expect(sides).toEqual(["0", "0", "10", "4", "2"]);
    expect(paths(root)).toEqual(["M4 0H5V20H4a4 4 0 0 1 -4 -4V4a4 4 0 0 1 4 -4z"]);
  });

  it("fills and strokes a box with a single element", () => {
    const root = recorded((context) => {
      context.fillStyle = "red";
      context.strokeStyle = "blue";
      context.beginPath();
      context.roundRect(0, 0, 10, 4, 1);
      context.fill();
      context.stroke();
    });
    const [box, ...more] = root.querySelectorAll("rect");
    expect(more).toEqual([]);
    expect([box!.getAttribute("fill"), box!.getAttribute("stroke")]).toEqual(["red", "blue"]);
  });

  it("clips between save and restore, then restores the previous state", () => {
    const root = recorded((context) => {
      context.fillStyle = "red";
      context.save();
      context.beginPath();
      context.rect(0, 0, 5, 5);
      context.clip();
      context.fillStyle = "blue";
      context.fillRect(0, 0, 9, 8);
      context.restore();
      context.fillRect(1, 1, 1, 2);
    });
    const [inside, after] = root.querySelectorAll("g > path, svg > path");
    const clip = root.querySelector("clipPath")!;
    expect(clip.firstElementChild!.getAttribute("d")).toBe("M0 0h5v5h-5z");
    expect(inside!.parentElement!.getAttribute("clip-path")).toBe(`url(#${clip.id})`);
    expect(inside!.getAttribute("fill")).toBe("blue");
    expect(after!.parentElement).toBe(root);
    expect(after!.getAttribute("fill")).toBe("red");
  });

  it("escapes text, replaces invalid characters and keeps the font", () => {
    const said = '<script>&"\u0000\ud800 a';
    const root = recorded((context) => {
      context.font = "500 12px Some, 'Other Font'";
      context.textBaseline = "middle";
      context.fillText(said, 3, 10);
    });
    const text = root.querySelector("text")!;
    expect(text.textContent).toBe('<script>&"\ufffd\ufffd a');
    expect(text.getAttribute("font-size")).toBe("12");
    expect(text.getAttribute("font-weight")).toBe("500");
    expect(text.getAttribute("font-family")).toBe("Some, 'Other Font'");
    expect(text.getAttribute("y")).toBe("14");
    expect(text.getAttribute("textLength")).toBe(String(7 * said.length));
    expect(root.querySelector("script")).toBeNull();
  });
});
