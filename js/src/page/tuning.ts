import tuning from "../tuning/tuning.ts";
import { themeToggle } from "./models.ts";
import { addTools, openPage } from "./open.ts";
import { replay } from "./replay.ts";

openPage({ views: { tuning }, replies: replay, shown: () => addTools(themeToggle()) });
