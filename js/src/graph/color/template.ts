/** Stands for what the colors say of a box until it is drawn. */
export const SLOT = "\ufffc";

const PART = /\{\{|\}\}|\{([^{}]*)\}/g;

/** The lines of a label; what `tvmdbg_widgets/model/graph/node_columns.py` refuses stays as it is, and empty parts between dots go. */
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
