import "../shell/theme.css";
import "./graph.css";
import { widget } from "../shell/view.ts";
import { mountGraph } from "./mount.ts";
import type { GraphState } from "./options.ts";

export default widget<GraphState>(mountGraph);
