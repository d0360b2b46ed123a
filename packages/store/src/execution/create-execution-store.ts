import type { StoreDependencies } from "../journal/dependencies.ts";
import { createLeaseTable } from "../leases/lease-table.ts";
import { learnOutputs } from "../tools/observed-outputs.ts";
import { addToolCalls } from "../tools/tool-call-stats.ts";
import { publishTools } from "../tools/tool-catalogue.ts";
import { publishServer, readAskedReloads, reportReload } from "../tools/tool-servers.ts";
import { createApplyControls } from "./apply-controls.ts";
import { createClaims } from "./claims.ts";
import type { ExecutionStore } from "./execution-store.ts";
import { createPlanEnds } from "./plan-ends.ts";
import { createUnitWrites } from "./unit-writes.ts";

/** Claims plans and writes their events, fenced by the epoch. */
export function createExecutionStore(dependencies: StoreDependencies): ExecutionStore {
  const { collections, clock } = dependencies;
  const planLeases = createLeaseTable("plans", dependencies);
  return {
    ...createClaims(dependencies, planLeases),
    planLeases,
    ...createUnitWrites(dependencies),
    ...createPlanEnds(dependencies),
    ...createApplyControls(dependencies),
    now: () => clock.now(),
    publishTools: (server, offered) => publishTools(collections, server, offered, new Date(clock.now())),
    publishServer: (report) => publishServer(collections, report, new Date(clock.now())),
    readAskedReloads: () => readAskedReloads(collections),
    reportReload: (server, reload) => reportReload(collections, server, reload),
    learnOutputs: (learned) => learnOutputs(collections, learned, new Date(clock.now())),
    addToolCalls: (counted) => addToolCalls(collections, counted),
    async keepOnlyServers(servers) {
      const isGone = { server: { $nin: [...servers] } };
      await Promise.all([collections.tools.deleteMany(isGone), collections.toolServers.deleteMany(isGone)]);
    },
  };
}
