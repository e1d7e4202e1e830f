/** Stands for what the colors say of a box until it is drawn. */
export const SLOT = "\ufffc";

const PART = /\{\{|\}\}|\{([^{}]*)\}/g;

/** The lines of a label, as `LabelTemplate` in `tvmdbg_widgets/model/graph/label_template.py` fills them; what it refuses stays as it is. */
export function filled(template: string, field: (name: string) => string | undefined): string[] {
  return template.split("\n").map((line) =>
    line
      .replace(PART, (whole: string, name?: string) =>
        name === undefined ? whole.charAt(0) : (field(name) ?? whole),
      )
      .split(" · ")
      .map((part) => part.trim())
      .filter(Boolean)
      .join(" · "),
  );
}
