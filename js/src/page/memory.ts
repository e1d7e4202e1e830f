import memory from "../memory/memory.ts";
import { open } from "./open.ts";

open({ views: { memory } });
