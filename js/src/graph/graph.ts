import "../shared/ui/theme.css";
import "./graph.css";
import { widget } from "../shared/ui/view.ts";
import { mountGraph } from "./mount.ts";
import type { GraphOptions } from "./options.ts";

export default widget<GraphOptions>(mountGraph);
