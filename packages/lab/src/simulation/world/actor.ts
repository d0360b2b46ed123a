import type { GroupedWrite } from "@planwright/store/memory";
import type { SimulatedProcess } from "./simulated-process.ts";

/** The process whose operation the database is applying. */
export interface Actor {
  process: SimulatedProcess;
  /** Name of the operation. */
  name: string;
  /** The grouped write of the operation, if it is one. */
  write: GroupedWrite | undefined;
}
