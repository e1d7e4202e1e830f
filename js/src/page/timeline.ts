/** The entry of a page that shows the timeline alone. */
import timeline from "../timeline/timeline.ts";
import "./page.css";
import { open } from "./open.ts";

open({ timeline });
