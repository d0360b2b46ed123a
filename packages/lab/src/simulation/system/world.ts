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

/** What all parts of one seed's world share. */
export interface World {
  settings: WorldSettings;
  timeline: Timeline;
  log: EventLog;
  /** The root of all chance. */
  random: Random;
  database: MemoryDatabase;
  /** What executors log to. */
  logger: Logger;
  checker: Checker;
  faults: Faults;
  /** The fault that is planted on purpose, if any. */
  mutant: Mutant | undefined;
  /** Set while an operation is applied to the database. */
  actor: Actor | null;
}
