import * as tokens from "../../../../tvmdbg_widgets/figures/tokens.json";

/** From here on a box has two lines. */
export const FULL_SCALE = 0.85;
/** From here on every text of a box is whole and no smaller than 11 px: what a view opens with, and what a fit keeps. */
export const LEGIBLE_SCALE = 0.92;
/** Below, boxes bear no text. */
export const TITLE_SCALE = 0.35;
/** Below, most titles in boxes would be cut: where there is room beside a graph, they stand there. */
export const CUT_SCALE = 0.6;
/** From this scale on, lines say what they carry. */
export const EDGE_TEXT_SCALE = 1.15;
/** Where a single node is looked at. */
export const READABLE_SCALE = 1;
/** Nothing is drawn larger to fit the stage, but for a graph that would fill little of it. */
export const LARGEST_FIT = 1.5;
/** As large as that is drawn. */
export const LARGEST_OF_FEW = 3;
/** Height of a box of one line beside one of two. */
export const COMPACT = tokens.compact.height / tokens.node.height;
