import tensor from "../tensor/tensor.ts";
import { open } from "./open.ts";
import { allAnswers } from "./stored_tensors.ts";

open({ views: { tensor }, answers: allAnswers });
