import { layer } from "../../shared/drawing/canvas.ts";
import { SvgContext, type TextRuler } from "../../shared/drawing/svg_context.ts";
import { markup } from "../../shared/drawing/svg_marks.ts";
import { escaped } from "../../shared/drawing/xml_text.ts";

/** The pattern of what is not known, as the palette draws it. */
const HATCH = "M-8 8L0 0M0 8L8 0M8 8L16 0";

/** Records what painters draw into a canvas of the page, with its fonts. */
export class SvgCanvas extends SvgContext {
  readonly #canvas: CanvasRenderingContext2D;

  constructor() {
    const { context } = layer("");
    super(rulerOf(context));
    this.#canvas = context;
  }

  createPattern(image: CanvasImageSource, repetition: string): CanvasPattern | null {
    return this.#canvas.createPattern(image, repetition);
  }

  /** The recorded drawing as a document. */
  text(width: number, height: number, title: string, hatch: string): string {
    const [wide, high] = [width, height].map((side) => String(Math.round(side * 100) / 100));
    return [
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${wide} ${high}" width="${wide}" height="${high}">`,
      `<title>${escaped(title)}</title>`,
      '<defs><pattern id="tvmdbg-hatch" width="8" height="8" patternUnits="userSpaceOnUse">',
      `<path d="${HATCH}" stroke="${hatch}" stroke-width="1.2"/></pattern></defs>`,
      markup(this.marks),
      "</svg>\n",
    ].join("\n");
  }
}

function rulerOf(context: CanvasRenderingContext2D): TextRuler {
  const shifts = new Map<string, number>();
  return {
    exact: true,
    family: "",
    width(text, font) {
      context.font = font;
      return context.measureText(text).width;
    },
    shift(font, baseline) {
      const key = `${baseline} ${font}`;
      const known = shifts.get(key);
      if (known !== undefined) return known;
      context.font = font;
      const [alphabetic = 0, named = 0] = (["alphabetic", baseline] as const).map((each) => {
        context.textBaseline = each;
        return context.measureText("x").actualBoundingBoxAscent;
      });
      shifts.set(key, alphabetic - named);
      return alphabetic - named;
    },
  };
}
