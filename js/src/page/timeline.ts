import timeline from "../timeline/timeline.ts";
import { open } from "./open.ts";

open({ views: { timeline } });
