import "../shell/theme.css";
import "./findings.css";
import "../graph/graph.css";
import "../tensor/tensor.css";
import "../tensor/health.css";
import "../tensor/parts.css";
import "../tensor/compact.css";
import "../tensor/low.css";
import "../timeline/timeline.css";
import "./debugger.css";
import { widget } from "../shell/view.ts";
import { mountDebugger } from "./mount.ts";

export default widget(mountDebugger);
