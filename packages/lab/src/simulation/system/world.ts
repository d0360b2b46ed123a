import type { Logger } from "@planwright/runtime";
import type { MemoryDatabase } from "@planwright/store/memory";
import type { Random } from "../../random/random.ts";
import type { Checker } from "../checker/checker.ts";
import type { Mutant } from "../mutants/mutant.ts";
import type { Actor } from "../world/actor.ts";
import type { EventLog } from "../world/event-log.ts";
import type { Faults } from "../world/faults.ts";
import type { WorldSettings } from "../world/settings.ts";
import type { Timeline } from "../world/timeline.ts";

/** The parts that the whole world of one seed shares. */
export interface World {
  settings: WorldSettings;
  timeline: Timeline;
  log: EventLog;
  /** The root of all random streams. */
  random: Random;
  database: MemoryDatabase;
  /** The logger of the executors. */
  logger: Logger;
  checker: Checker;
  faults: Faults;
  /** The planted fault, if any. */
  mutant: Mutant | undefined;
  /** Set while an operation is applied to the database. */
  actor: Actor | null;
}
