import { setTimeout as delay } from "node:timers/promises";
import type { ExecutionStore } from "../store.ts";
import { learnOutputs } from "../tools/observed-outputs.ts";
import { publishTools } from "../tools/tool-catalogue.ts";
import { publishServer } from "../tools/tool-servers.ts";
import { createClaims } from "./claims.ts";
import type { ExecutionContext } from "./context.ts";
import { createHearControls } from "./hear-controls.ts";
import { createPlanEnds } from "./plan-ends.ts";
import { createUnitWrites } from "./unit-writes.ts";

/** What executing needs. */
export type ExecutionStoreParts = Omit<ExecutionContext, "sleep">;

/** Claiming plans and writing what happens to them, fenced by the epoch. */
export function createExecutionStore(parts: ExecutionStoreParts): ExecutionStore {
  const { collections, clock } = parts;
  const sleep = (ms: number): Promise<void> => delay(ms);
  const context = { ...parts, sleep };
  return {
    ...createClaims(context),
    ...createUnitWrites(context),
    ...createPlanEnds(context),
    ...createHearControls(context),
    now: () => clock.now(),
    publishTools: (server, offered) => publishTools(collections, server, offered, new Date(clock.now())),
    publishServer: (word) => publishServer(collections, word, new Date(clock.now())),
    learnOutputs: (learned) => learnOutputs(collections, learned, new Date(clock.now())),
    async keepOnlyServers(servers) {
      const isGone = { server: { $nin: [...servers] } };
      await Promise.all([collections.tools.deleteMany(isGone), collections.toolServers.deleteMany(isGone)]);
    },
  };
}
