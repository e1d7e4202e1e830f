import "../shell/theme.css";
import "./timeline.css";
import { widget } from "../shell/view.ts";
import { mountTimeline } from "./mount.ts";

export default widget(mountTimeline);
