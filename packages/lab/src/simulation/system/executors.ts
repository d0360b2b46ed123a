import { type Heartbeat, type HeartbeatOptions, startHeartbeat } from "@planwright/runtime";
import type { ExecutionStore, Store } from "@planwright/store";
import { createMemoryStore, type MemoryStore } from "@planwright/store/memory";
import {
  createOutputMemory,
  type OutputMemory,
} from "../../../../../services/executor/src/outputs/output-memory.ts";
import { createPlanRuns, type PlanRuns } from "../../../../../services/executor/src/plan-runs.ts";
import { createSignInChecks } from "../../../../../services/executor/src/sign-ins.ts";
import { tellEndsHere } from "../../../../../services/planwright/src/tell-ends-here.ts";
import type { Random } from "../../random/random.ts";
import { CATALOGUE } from "../world/catalogue.ts";
import { createProcess, type SimulatedProcess } from "../world/processes.ts";
import type { SimulatedTools } from "./tools.ts";
import { createReach, type World } from "./world.ts";

/** All executors of a world; a dead one is restarted. */
export interface Executors {
  /** A random living executor; null when there is none. */
  any(random: Random): ExecutorProcess | null;
  /** A random living process that has an API too and accepts requests; null when there is none. */
  anyApi(random: Random): ComposedProcess | null;
}

/** Starts the number of executors in the settings. */
export function startExecutors(world: World, tools: SimulatedTools): Executors {
  const { settings, timeline, faults } = world;
  const random = world.random.stream("executors");
  const clocks = world.random.stream("clocks");
  const lives: (ExecutorProcess | null)[] = [];

  function start(index: number, life: number): void {
    const name = `executor-${index}.${life}`;
    const process = createProcess(name, {
      timeline,
      random: world.random.stream(name),
      wallOffsetMs: Math.round((clocks.next() * 2 - 1) * settings.wallOffsetMs),
      onDeath() {
        lives[index] = null;
        // While faults may begin, an executor may stay down for long; later a supervisor restarts it soon.
        const at = timeline.now() + random.whole(50, faults.isChaos() ? 8_000 : 500);
        faults.note(at);
        timeline.at(at, () => start(index, life + 1));
      },
    });
    lives[index] = startExecutor(world, process, tools, index < settings.composed);
  }

  for (let index = 0; index < settings.executors; index++) start(index, 0);
  function pick<Life>(random: Random, [first, ...rest]: readonly Life[]): Life | null {
    return first ? random.pick([first, ...rest]) : null;
  }

  return {
    any: (random) =>
      pick(
        random,
        lives.flatMap((life) => life ?? []),
      ),
    anyApi: (random) =>
      pick(
        random,
        lives.flatMap((life) => (life?.api?.isOpen() ? life.api : [])),
      ),
  };
}

/** Interval of the sweeper, in milliseconds; each pause is 0.5 to 1.5 times as long. */
const SWEEP_EVERY_MS = 1_000;
/** The same as in the service. */
const RECONCILE_EVERY_MS = 15_000;
const MAX_PLANS = 16;
/** The same as in the service. */
const CHECK_SIGN_INS_EVERY_MS = 500;
/** Interval of removals, in milliseconds: much shorter than in the service. */
const REMOVE_EVERY_MS = 400;

/** One life of an executor's process, wired as in its main program. */
interface ExecutorProcess {
  process: SimulatedProcess;
  /** Takes a job from the queue. */
  work(planId: string): void;
  /** SIGTERM. */
  terminate(): void;
  /** Its API, if it has one. */
  api: ComposedProcess | undefined;
}

/** A process with an executor, as its clients see it. */
interface ComposedProcess {
  process: SimulatedProcess;
  store: MemoryStore;
  /** False when it is about to end. */
  isOpen(): boolean;
}

/** Starts an executor: the real plan runs with an in-memory store and simulated tools and time. */
function startExecutor(
  world: World,
  process: SimulatedProcess,
  tools: SimulatedTools,
  isComposed: boolean,
): ExecutorProcess {
  const { settings, checker, log, mutant, faults, timeline } = world;
  const ids = world.random.stream(`ids of ${process.name}`);
  const { clock, name } = process;
  const reach = createReach(world, process);
  const memoryStore = createMemoryStore({
    database: world.database,
    owner: name,
    planTimeoutMs: settings.planTimeoutMs,
    retryForMs: settings.retryForMs,
    reach,
    monotonic: () => clock.now(),
    wall: () => process.wall(),
    sleep: (ms) => process.sleep(ms),
    rewrite: mutant?.rewrite,
    rewriteLog: mutant?.log,
    serverNow: mutant?.hasLocalTime ? () => process.wall() : undefined,
    randomBytes: (bytes) => bytes.forEach((_, index) => (bytes[index] = ids.whole(0, 255))),
  });
  const noTools = {
    publishTools: async () => undefined,
    keepOnlyServers: async () => undefined,
    learnOutputs: async () => undefined,
    addToolCalls: async () => undefined,
    publishServer: async () => undefined,
  };
  const watched: ExecutionStore = {
    ...memoryStore,
    ...noTools,
    async claimPlan(planId, owner) {
      const claim = await memoryStore.claimPlan(planId, owner);
      if (claim) checker.claimed(name, claim);
      return claim;
    },
  };
  const store = tellingEnds(mutant?.store?.(watched) ?? watched);
  const retention = mutant?.retention?.({ database: world.database, reach }) ?? memoryStore;
  const memory = createOutputMemory({ maxBytes: settings.outputMemoryBytes });
  const outputMemory = watchedMemory(mutant?.outputMemory?.(memory) ?? memory, (bytes) =>
    checker.reads(name, bytes, memory.maxBytes),
  );
  const clients = tools.clientsOf(process);
  let heartbeat: Heartbeat | undefined;
  let runs: PlanRuns | undefined;
  let isStopping = false;

  /** As in a process with several roles: what waits in it for an end of a request is told of each. */
  function tellingEnds(of: ExecutionStore): ExecutionStore {
    if (!isComposed) return of;
    const nothing = (): void => undefined;
    const noWatch: Store["watchRequestsAtRest"] = () => ({
      ready: Promise.resolve(),
      close: async () => undefined,
    });
    const telling = tellEndsHere({ ...of, watchRequestsAtRest: noWatch });
    telling.watchRequestsAtRest({
      onChange: (requestId) => checker.toldOfEnd(requestId),
      onGap: nothing,
      onError: nothing,
    });
    return telling;
  }

  function take(planId: string): void {
    // As in the queue and the sweeper: the sweep finds a failed job again.
    runs?.take(planId).catch((error: unknown) => log.note(name, "could not take", planId, String(error)));
  }

  async function look(): Promise<void> {
    const limit = runs?.capacity() ?? 0;
    if (limit > 0) {
      try {
        for (const { id } of await store.planLeases.findInTurns(limit, [])) take(id);
      } catch (error) {
        log.note(name, "could not sweep", String(error));
      }
    }
  }

  async function sweep(): Promise<void> {
    await look();
    if (!isStopping) clock.after(SWEEP_EVERY_MS * (0.5 + clock.random()), () => void sweep());
  }

  function remove(keptMs: number): void {
    const endedBefore = new Date(memoryStore.now() - keptMs);
    retention
      .removeEnded({ endedBefore, limit: 3 })
      .catch((error: unknown) => log.note(name, "could not remove", String(error)));
  }

  function begin(begun: Heartbeat): void {
    heartbeat = begun;
    runs = createPlanRuns({
      store,
      leases: store.planLeases,
      tools: mutant?.tools?.(clients, () => clock.id()) ?? clients,
      signIns: clients,
      readCatalogue: async () => CATALOGUE,
      liveness: mutant?.liveness?.(begun) ?? begun,
      outputMemory,
      maxPlans: MAX_PLANS,
      deadAfterMs: settings.deadAfterMs,
      logger: world.logger.child({ executor: name }),
      clock,
    });
    if (!mutant?.hasNoSweeper) void sweep();
    const signIns = createSignInChecks({
      store,
      tools: clients,
      servers: ["simulated"],
      now: () => clock.now(),
      logger: world.logger,
    });
    clock.every(CHECK_SIGN_INS_EVERY_MS, () => {
      signIns.check().catch((error: unknown) => log.note(name, "could not wake plans", String(error)));
    });
    const { keptMs } = settings;
    if (keptMs !== null) clock.every(REMOVE_EVERY_MS, () => remove(keptMs));
    clock.every(RECONCILE_EVERY_MS, () => {
      store
        .reconcileRequests()
        .catch((error: unknown) => log.note(name, "could not reconcile", String(error)));
    });
  }

  /** As in the queues of a process with several roles: a plan is stored as claimed by it where it has room. */
  const clientStore: MemoryStore = {
    ...memoryStore,
    submitPlan: (submission) =>
      memoryStore.submitPlan({
        ...submission,
        reserve({ _id: planId }) {
          const reserved = runs?.reserve(planId);
          if (!reserved) return null;
          const place = { ...reserved, begin: () => take(planId) };
          return mutant?.place?.(place) ?? place;
        },
      }),
  };
  const api: ComposedProcess = {
    process,
    store: mutant?.clientStore?.(clientStore, { database: world.database, reach }) ?? clientStore,
    isOpen: () => runs !== undefined && !isStopping,
  };

  /** The same steps as in the shutdown of the service. */
  async function leave(): Promise<void> {
    const ignore = (error: unknown): void => log.note(name, "a step of stopping failed", String(error));
    await heartbeat?.retire().catch(ignore);
    await runs?.handOver(5_000);
    await heartbeat?.stop().catch(ignore);
  }

  const workers: HeartbeatOptions["workers"] = {
    ...memoryStore,
    async addWorker(worker) {
      faults.allowSilence(worker.deadAfterMs);
      await memoryStore.addWorker(worker);
    },
  };
  log.note(name, "starts");
  startHeartbeat({
    workers: mutant?.workers?.(workers) ?? workers,
    name,
    kind: "executor",
    addressKey: null,
    deadAfterMs: settings.deadAfterMs,
    onDead() {
      log.note(name, "was declared dead");
      runs?.loseAll();
    },
    onTaken() {
      if (!mutant?.hasNoSweeper && !isStopping) void look();
    },
    logger: world.logger.child({ executor: name }),
    clock,
    // A service ends when its first heartbeat fails, and is restarted.
  }).then(begin, () => faults.kill(process, "could not start"));

  return {
    process,
    api: isComposed ? api : undefined,
    work: (planId) => process.deliver(timeline.now(), () => take(planId)),
    terminate() {
      process.deliver(timeline.now(), () => {
        if (isStopping) return;
        isStopping = true;
        log.note("SIGTERM", name);
        void leave().finally(() => faults.kill(process, "after handing over"));
      });
    },
  };
}

/** A memory that reports how many bytes of outputs are being read. */
function watchedMemory(memory: OutputMemory, reads: (bytes: number) => () => void): OutputMemory {
  return {
    ...memory,
    join(holder) {
      const outputs = memory.join(holder);
      return {
        ...outputs,
        load: (bytes, read, take) => outputs.load(bytes, () => read().finally(reads(bytes)), take),
      };
    },
  };
}
