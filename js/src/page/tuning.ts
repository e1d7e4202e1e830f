import tuning from "../tuning/tuning.ts";
import { themeToggle } from "./models.ts";
import { addTools, openPage } from "./open.ts";
import { recordedAnswers, unanswered } from "./stored_data.ts";

openPage({
  views: { tuning },
  replies: (data) => recordedAnswers(data, () => () => unanswered("no answer to this")),
  shown: () => addTools(themeToggle()),
});
