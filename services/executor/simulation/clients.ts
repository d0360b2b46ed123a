import type { PlanId } from "@planwright/plan";
import type { PlanDocument } from "@planwright/store";
import { createMemoryStore, type MemoryStore } from "@planwright/store/memory";
import type { JobQueue } from "./job-queue.ts";
import { createReach } from "./network.ts";
import { startOperator } from "./operator.ts";
import type { Random } from "./random.ts";
import { drawPlan } from "./random-plan.ts";
import { createProcess, type SimulatedProcess } from "./simulated-process.ts";
import { TENANT } from "./tenant.ts";
import type { World } from "./world.ts";

/** Starts what stands outside: clients who submit plans, change their minds and read, and operators. */
export function startClients(world: World, queue: JobQueue): void {
  const { settings, timeline } = world;
  const random = world.random.stream("clients");
  const clocks = world.random.stream("clock of api");
  const process = createProcess("api", {
    timeline,
    random: world.random.stream("api"),
    wallOffsetMs: Math.round((clocks.next() * 2 - 1) * settings.wallOffsetMs),
  });
  const reach = createReach(world, process);
  const own = createMemoryStore({
    database: world.database,
    owner: "api",
    leaseMs: settings.leaseMs,
    retryForMs: settings.retryForMs,
    reach,
    monotonic: () => process.clock.now(),
    wall: () => process.wall(),
    sleep: (ms) => process.sleep(ms),
    randomBytes: (bytes: Uint8Array<ArrayBuffer>) =>
      bytes.forEach((_, index) => (bytes[index] = random.whole(0, 255))),
  });
  const store = world.mutant?.clientStore?.(own, { database: world.database, reach }) ?? own;
  const deadly = settings.hasDeadlyPlan ? random.whole(0, settings.plans - 1) : -1;
  for (let index = 0; index < settings.plans; index++) {
    const client = { world, process, store, queue, random: random.stream(`p${index}`) };
    const at = index === 0 ? 1 : random.whole(1, 10_000);
    process.deliver(at, () => void submit(client, `p${index}`, index === deadly));
  }
  startOperator({ world, process, store, random: random.stream("operator") });
}

interface Client {
  world: World;
  process: SimulatedProcess;
  store: MemoryStore;
  queue: JobQueue;
  random: Random;
}

/** One client with one plan. Whoever hears no answer does not know whether the plan is accepted, and leaves it at that. */
async function submit(client: Client, name: string, isDeadly: boolean): Promise<void> {
  const { world, store, queue, random, process } = client;
  const plan = drawPlan(random, name, isDeadly);
  const isSeparate = random.chance(0.3);
  try {
    const submission = {
      tenant: TENANT,
      query: null,
      plan,
      raw: name,
      diagnostics: [],
      autoExecute: !isSeparate,
    };
    const { plan: accepted } = await store.submitPlan(submission);
    const { _id: planId, requestId } = accepted;
    world.log.note("client was given", name, planId, plan.steps.length, "steps");
    world.checker.accepted(planId);
    wish(client, planId);
    readAgain(client, planId);
    if (!isSeparate) {
      queue.offer(planId);
      return;
    }
    for (;;) {
      await process.sleep(random.whole(1, 2_000));
      const queued = await store.queuePlan(TENANT, planId, requestId).catch(() => null);
      if (!queued) continue;
      queue.offer(planId);
      return;
    }
  } catch (error) {
    world.log.note("client hears no answer to", name, String(error));
  }
}

/** Draws what the client will want of the plan, and when. */
function wish({ world, store, queue, random, process }: Client, planId: PlanId): void {
  const { settings, timeline, log } = world;
  const later = (most: number): number => timeline.now() + random.whole(1, most);
  const ask = (name: string, at: number, what: () => Promise<PlanDocument | null>): void => {
    process.deliver(at, () => {
      what().then(
        (plan) => {
          log.note("client asked to", name, planId);
          if (plan) queue.offer(planId);
        },
        // Whether it was heard is not known: the client asks again.
        () => ask(name, later(2_000), what),
      );
    });
  };
  if (random.chance(0.25)) {
    const at = later(settings.wishesUntilMs);
    ask("pause", at, () => store.requestPause(TENANT, planId));
    if (random.chance(0.8))
      ask("resume", at + random.whole(1, 8_000), () => store.requestResume(TENANT, planId));
  }
  if (random.chance(0.25))
    ask("cancel", later(settings.wishesUntilMs), () => store.requestCancel(TENANT, planId));
}

/** Reads the plan every few seconds until it is over. */
function readAgain(client: Client, planId: PlanId): void {
  const { world, store, process, random } = client;
  process.clock.after(random.whole(200, 4_000), () => {
    store.getPlan(TENANT, planId).then(
      (plan) => {
        world.checker.read(planId, plan);
        if (plan?.finishedAt === null) readAgain(client, planId);
      },
      () => readAgain(client, planId),
    );
  });
}
