import "../shared/theme.css";
import "./tensor.css";
import "./health.css";
import "./parts.css";
import "./compact.css";
import "./low.css";
import { widget } from "../shared/view.ts";
import { mountTensor } from "./mount.ts";
import type { TensorOptions } from "./options.ts";

export default widget<TensorOptions>(mountTensor);
