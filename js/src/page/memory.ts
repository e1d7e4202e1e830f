import memory from "../memory/memory.ts";
import { open } from "./open.ts";
import { runAnswers } from "./stored_run.ts";

open({ views: { memory }, answers: runAnswers });
