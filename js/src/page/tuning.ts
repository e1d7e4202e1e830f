import tuning from "../tuning/tuning.ts";
import { themeToggle } from "./models.ts";
import { addTools, openPage } from "./open.ts";
import { storedAnswers } from "./stored_data.ts";

openPage({
  views: { tuning },
  replies: storedAnswers,
  shown: () => addTools(themeToggle()),
});
