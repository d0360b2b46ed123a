import type { GroupedWrite } from "@planwright/store/memory";
import type { SimulatedProcess } from "./simulated-process.ts";

/** The process whose operation the database is applying. */
export interface Actor {
  process: SimulatedProcess;
  /** Name of the operation. */
  name: string;
  /** What the operation writes, when it is a grouped write. */
  write: GroupedWrite | undefined;
}
