import "../shared/ui/theme.css";
import "./memory.css";
import { widget } from "../shared/ui/view.ts";
import { mountMemory } from "./mount.ts";

export default widget(mountMemory);
