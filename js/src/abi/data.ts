/** A struct in several layouts, as `figures/struct.py` describes it. */
export interface StructData {
  title: string;
  text: string;
  layouts: readonly LayoutInfo[];
}

export interface LayoutInfo {
  label: string;
  /** Size and alignment in words. */
  facts: string;
  size: number;
  align: number;
  verdict: string;
  /** Whether the dump makes sense in this layout; empty where nothing is known. */
  sense: "yes" | "no" | "";
  /** The layout that the changes are counted from; empty for that itself. */
  against: string;
  changes: readonly string[];
  problems: readonly string[];
  /** One for a struct, one for each member of a union. */
  sections: readonly Section[];
}

/** Values that share rows of bytes. */
export interface Section {
  /** Bytes. */
  size: number;
  parts: readonly Part[];
  frames: readonly Frame[];
}

/** A value, or padding, which has no path. */
export interface Part {
  name: string;
  path: string;
  type: string;
  /** The type where there is little room. */
  short: string;
  offset: number;
  size: number;
  /** Which of the colors of members. */
  color: number;
  /** What is other than in the first layout, in a few letters. */
  mark: string;
  value: string;
  problem: string;
}

/** A struct inside the struct. */
export interface Frame {
  name: string;
  type: string;
  offset: number;
  size: number;
  depth: number;
}
