import "../shared/theme.css";
import "./timeline.css";
import { widget } from "../shared/view.ts";
import { mountTimeline } from "./mount.ts";

export default widget(mountTimeline);
