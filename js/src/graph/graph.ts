import "../shell/theme.css";
import "./graph.css";
import { widget } from "../shell/view.ts";
import { mountGraph } from "./mount.ts";
import type { GraphState } from "./options.ts";
import { SvgCanvas } from "./panels/export_picture.ts";

export default widget<GraphState>((root, context) => mountGraph(root, { ...context, SvgCanvas }));
