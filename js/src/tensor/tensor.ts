import "../shell/theme.css";
import "./tensor.css";
import "./health.css";
import "./parts.css";
import "./compact.css";
import "./low.css";
import { widget } from "../shell/view.ts";
import { mountTensor } from "./mount.ts";
import type { TensorOptions } from "./state.ts";

/** Largest default height of a tensor on a large screen, CSS px. */
const MOST_HEIGHT = 720;

export default widget<TensorOptions>(mountTensor, MOST_HEIGHT);
