import type { GroupedWrite } from "@planwright/store/memory";
import type { SimulatedProcess } from "./simulated-process.ts";

/** Who has the database do something just now. */
export interface Actor {
  process: SimulatedProcess;
  /** Name of the operation. */
  name: string;
  /** What was meant to be written, for a grouped write. */
  write: GroupedWrite | undefined;
}
