import "../shell/theme.css";
import "./memory.css";
import { widget } from "../shell/view.ts";
import { mountMemory } from "./mount.ts";

export default widget(mountMemory);
