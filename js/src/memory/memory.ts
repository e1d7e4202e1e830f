import "../shared/theme.css";
import "./memory.css";
import { widget } from "../shared/view.ts";
import { mountMemory } from "./mount.ts";

export default widget(mountMemory);
