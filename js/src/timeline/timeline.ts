import "../shared/ui/theme.css";
import "./timeline.css";
import { widget } from "../shared/ui/view.ts";
import { mountTimeline } from "./mount.ts";

export default widget(mountTimeline);
