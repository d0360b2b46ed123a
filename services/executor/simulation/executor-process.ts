import { createLogger } from "@planwright/runtime";
import type { ExecutionStore } from "@planwright/store";
import { createMemoryStore } from "@planwright/store/memory";
import { createPlanRuns } from "../src/plan-runs.ts";
import { CATALOGUE } from "./catalogue.ts";
import { createReach } from "./network.ts";
import type { SimulatedProcess } from "./simulated-process.ts";
import type { SimulatedTools } from "./simulated-tools.ts";
import type { World } from "./world.ts";

/** Pause between two looks for lost plans, in milliseconds: drawn from 0.5 to 1.5 times that, as the sweeper does. */
const SWEEP_EVERY_MS = 1_000;
/** As in the service. */
const RECONCILE_EVERY_MS = 15_000;
const MAX_PLANS = 16;
/** Errors that a run may end with: the database was away, as the store says it or as the driver does. */
const EXPECTED_ERRORS: readonly unknown[] = ["STORE_UNAVAILABLE", "MongoNetworkError"];

/** The executor in one life of a process, wired as its main program does. */
export interface ExecutorProcess {
  process: SimulatedProcess;
  /** A job of the queue comes in. */
  work(planId: string): void;
  /** SIGTERM. */
  terminate(): void;
}

/** Starts an executor: the real plan runs, over the store in memory, with simulated tools and time. */
export function startExecutor(
  world: World,
  process: SimulatedProcess,
  tools: SimulatedTools,
): ExecutorProcess {
  const { settings, checker, log, mutant, faults, timeline } = world;
  const { clock, name } = process;
  const own = createMemoryStore({
    database: world.database,
    owner: name,
    leaseMs: settings.leaseMs,
    planTimeoutMs: settings.planTimeoutMs,
    retryForMs: settings.retryForMs,
    reach: createReach(world, process),
    monotonic: () => clock.now(),
    wall: () => process.wall(),
    sleep: (ms) => process.sleep(ms),
    rewrite: mutant?.rewrite,
    serverNow: mutant?.hasLocalTime ? () => process.wall() : undefined,
  });
  const noTools = { publishTools: async () => undefined, keepOnlyServers: async () => undefined };
  const watched: ExecutionStore = {
    ...own,
    ...noTools,
    async claimPlan(planId, owner) {
      const claim = await own.claimPlan(planId, owner);
      if (claim) checker.claimed(name, claim);
      return claim;
    },
  };
  const store = mutant?.store?.(watched) ?? watched;
  const clients = tools.clientsOf(process);
  const runs = createPlanRuns({
    store,
    tools: mutant?.tools?.(clients, () => clock.id()) ?? clients,
    readCatalogue: async () => CATALOGUE,
    owner: name,
    maxPlans: MAX_PLANS,
    leaseMs: settings.leaseMs,
    logger: createLogger({
      service: "executor",
      level: "error",
      destination: { write: (line) => heard(world, name, line) },
    }),
    clock,
  });
  let isStopping = false;

  function take(planId: string): void {
    // As the queue and the sweeper: whatever goes wrong is found again later.
    runs.take(planId).catch((error: unknown) => log.note(name, "could not take", planId, String(error)));
  }

  async function sweep(): Promise<void> {
    const limit = runs.capacity();
    if (limit > 0) {
      try {
        for (const planId of await store.findClaimable(limit)) take(planId);
      } catch (error) {
        log.note(name, "could not sweep", String(error));
      }
    }
    if (!isStopping) clock.after(SWEEP_EVERY_MS * (0.5 + clock.random()), () => void sweep());
  }

  if (!mutant?.hasNoSweeper) void sweep();
  clock.every(RECONCILE_EVERY_MS, () => {
    store.reconcileRequests().catch((error: unknown) => log.note(name, "could not reconcile", String(error)));
  });
  log.note(name, "starts");

  return {
    process,
    work: (planId) => process.deliver(timeline.now(), () => take(planId)),
    terminate() {
      process.deliver(timeline.now(), () => {
        if (isStopping) return;
        isStopping = true;
        log.note("SIGTERM", name);
        void runs.handOver(5_000).then(() => faults.kill(process, "after handing over"));
      });
    },
  };
}

/** What an executor logs as an error ends a run: it has to be one of those that may. */
function heard({ checker, log }: World, name: string, line: string): void {
  const entry: unknown = JSON.parse(line);
  if (typeof entry !== "object" || entry === null) return;
  const error: unknown = "err" in entry ? entry.err : undefined;
  if (typeof error !== "object" || error === null) return;
  const code: unknown = "code" in error ? error.code : "name" in error ? error.name : undefined;
  const message: unknown = "message" in error ? error.message : undefined;
  log.note(name, "ends a run:", String(code), String(message));
  if (!EXPECTED_ERRORS.includes(code)) checker.fail("no-surprise", `${name} ended a run: ${line}`);
}
