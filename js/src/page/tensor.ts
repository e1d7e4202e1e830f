import tensor from "../tensor/tensor.ts";
import { open } from "./open.ts";
import { tensorAnswers } from "./stored_tensors.ts";

open({ views: { tensor }, answers: tensorAnswers });
