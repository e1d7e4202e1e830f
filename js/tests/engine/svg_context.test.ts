import { describe, expect, it } from "vitest";
import { SvgContext } from "../../src/shared/drawing/svg_context.ts";
import { markup } from "../../src/shared/drawing/svg_marks.ts";
import { markupOfBoth } from "../../src/shared/drawing/svg_schemes.ts";

const RULER = {
  exact: false,
  family: "Sans",
  width: (text: string) => 7 * text.length,
  shift: (_font: string, baseline: string) => (baseline === "middle" ? 4 : 0),
};

type Draw = (pen: SvgContext, dark: boolean) => void;

function recorded(draw: Draw, dark = false): SvgContext {
  const pen = new SvgContext(RULER, 1);
  draw(pen, dark);
  return pen;
}

const drawn = (draw: Draw) => markup(recorded(draw).marks);
const drawnForBoth = (draw: Draw) => markupOfBoth(recorded(draw).marks, recorded(draw, true).marks);

describe("a recorded path", () => {
  it("is written in relative steps without accumulating rounding errors", () => {
    const line = drawn((pen) => {
      pen.beginPath();
      pen.moveTo(0, 0);
      for (let i = 1; i <= 4; i++) pen.lineTo(i * 0.26, i * 0.04);
      pen.lineTo(5, 0.16);
      pen.lineTo(5, -7);
      pen.stroke();
    });
    expect(line).toContain('d="M0 0h.3l.2 .1h.3l.2 .1h4v-7.2"');
  });

  it("draws dots of one size as zero-length lines", () => {
    const dots = drawn((pen) => {
      pen.fillStyle = "#abcdef";
      pen.globalAlpha = 0.5;
      pen.beginPath();
      pen.arc(3, 4, 2, 0, 2 * Math.PI);
      pen.arc(5, 6, 2, 0, 2 * Math.PI);
      pen.fill();
    });
    expect(dots).toBe(
      '<path d="M3 4h0M5 6h0" fill="none" stroke="#abcdef" stroke-opacity="0.5" stroke-width="4" stroke-linecap="round"/>',
    );
  });

  it("draws squares of one size as lines as wide as they are long", () => {
    const squares = drawn((pen) => {
      pen.fillRect(3, 4, 3, 3);
      pen.fillRect(10, 20.5, 3, 3);
    });
    expect(squares).toBe(
      '<path d="M3 5.5h3M10 22h3" fill="none" stroke="#000000" stroke-width="3"/>',
    );
  });

  it("draws stroked circles and circles of different sizes as arcs", () => {
    const circles = drawn((pen) => {
      pen.beginPath();
      pen.arc(3, 4, 2, 0, 7);
      pen.stroke();
      pen.arc(3, 4, 1, 0, 7);
      pen.fill();
    });
    expect(circles).toContain('d="M1 4a2 2 0 1 0 4 0a2 2 0 1 0 -4 0z"/>');
    expect(circles).toContain("0zM2 4a1 1 0 1 0 2 0a1 1 0 1 0 -2 0z");
  });

  it.each([
    [0, Math.PI / 2, false, "M10 0a10 10 0 0 1 -10 10"],
    [0, -Math.PI / 2, false, "M10 0a10 10 0 1 1 -10 -10"],
    [0, -Math.PI / 2, true, "M10 0a10 10 0 0 0 -10 -10"],
  ])("draws the arc from %d to %d", (start, end, anticlockwise, path) => {
    const arc = drawn((pen) => {
      pen.beginPath();
      pen.arc(0, 0, 10, start, end, anticlockwise);
      pen.stroke();
    });
    expect(arc).toContain(`d="${path}"`);
  });

  it("leaves out non-finite coordinates", () => {
    const nothing = drawn((pen) => {
      pen.fillRect(Number.NaN, 0, 1, 1);
      pen.strokeRect(0, 0, Number.POSITIVE_INFINITY, 1);
      pen.fillText("text", 0, Number.NaN);
      pen.beginPath();
      pen.moveTo(Number.NaN, 0);
      pen.arc(0, Number.NaN, 1, 0, 7);
      pen.rect(0, 0, Number.NaN, 1);
      pen.fill();
      pen.stroke();
    });
    expect(nothing).toBe("");
  });

  it("applies translations until the state is restored", () => {
    const moved = drawn((pen) => {
      pen.save();
      pen.translate(10, 20);
      pen.translate(1, 1);
      pen.fillRect(0, 0, 2, 4);
      pen.fillRect(0, 0, 2, 2);
      pen.restore();
      pen.fillRect(0, 0, 2, 2);
    });
    expect(moved).toContain('d="M11 21h2v4h-2z"');
    expect(moved).toContain('d="M11 22h2M0 1h2"');
  });
});

describe("recorded texts", () => {
  it("share one group per style and omit attributes that match the document", () => {
    const texts = drawn((pen) => {
      pen.fillStyle = "#111111";
      pen.font = "11px Sans";
      pen.textBaseline = "middle";
      pen.fillText("a", 1, 2);
      pen.fillText("b  c", 1, 12);
      pen.font = '600 12px "Other", Sans';
      pen.textAlign = "right";
      pen.fillText("d", 1, 2);
    });
    expect(texts).toBe(
      [
        '<g fill="#111111" font-size="11"><text x="1" y="6">a</text>',
        '<text x="1" y="16" xml:space="preserve">b  c</text></g>',
        `<text fill="#111111" font-size="12" font-family="&quot;Other&quot;, Sans" font-weight="600" text-anchor="end" x="1" y="6">d</text>`,
      ].join(""),
    );
  });

  it("escape markup and replace control characters", () => {
    const texts = drawn((pen) => pen.fillText("</text><script>\u0000\u202e", 0, 0));
    expect(texts).toContain(">&lt;/text&gt;&lt;script&gt;\ufffd\ufffd</text>");
  });
});

describe("a drawing for light and dark", () => {
  it("adds a class for each color that differs in dark mode", () => {
    const both = drawnForBoth((pen, dark) => {
      pen.fillStyle = "rgb(255, 0, 0)";
      pen.fillRect(0, 0, 1, 2);
      pen.fillStyle = dark ? "#fff" : "#000";
      pen.fillRect(1, 0, 1, 2);
      pen.fillStyle = dark ? "#00f" : "#000";
      pen.fillRect(2, 0, 1, 2);
    });
    expect(both).toBe(
      [
        "<style>@media (prefers-color-scheme:dark){.tvmdbg-figure .f0000000000ff{fill:#0000ff}",
        ".tvmdbg-figure .f000000ffffff{fill:#ffffff}}</style>",
        '<path d="M0 0h1v2h-1z" fill="#ff0000"/>',
        '<path d="M1 0h1v2h-1z" fill="#000000" class="f000000ffffff"/>',
        '<path d="M2 0h1v2h-1z" fill="#000000" class="f0000000000ff"/>',
      ].join(""),
    );
  });

  it("closes every clip", () => {
    const clipped = drawn((pen) => {
      pen.beginPath();
      pen.rect(0, 0, 1, 1);
      pen.clip();
      pen.fillRect(0, 0, 9, 9);
    });
    expect(clipped.match(/<g/g)).toHaveLength(clipped.match(/<\/g>/g)!.length);
  });

  it.each<[string, Draw]>([
    ["a mark more", (pen, dark) => dark && pen.fillRect(0, 0, 1, 1)],
    ["another place", (pen, dark) => pen.fillRect(dark ? 1 : 0, 0, 1, 1)],
    ["another text", (pen, dark) => pen.fillText(dark ? "a" : "b", 0, 0)],
    [
      "another width",
      (pen, dark) => {
        pen.lineWidth = dark ? 1 : 2;
        pen.strokeRect(0, 0, 1, 1);
      },
    ],
  ])("is refused if dark mode has %s", (_what, draw) => {
    expect(() => drawnForBoth(draw)).toThrow("more than its colors");
  });
});
