import type { PlanId, RequestId } from "@planwright/plan";
import type { PlanDocument } from "@planwright/store";
import type { MemoryStore } from "@planwright/store/memory";
import type { Random } from "../../random/random.ts";
import { TENANT } from "../world/tenant.ts";
import type { Api } from "./api.ts";
import type { JobQueue } from "./job-queue.ts";
import { drawPlan } from "./random-plan.ts";
import type { World } from "./world.ts";

/** One client with one plan. */
interface Client {
  world: World;
  api: Api;
  queue: JobQueue;
  random: Random;
}

/** Clients submit their plans, send controls, and read the results. */
export function startClients(world: World, api: Api, queue: JobQueue): void {
  const { settings, timeline } = world;
  const random = world.random.stream("clients");
  const deadly = settings.hasDeadlyPlan ? random.whole(0, settings.plans - 1) : -1;
  for (let index = 0; index < settings.plans; index++) {
    const client = { world, api, queue, random: random.stream(`p${index}`) };
    const at = index === 0 ? 1 : random.whole(1, 10_000);
    timeline.at(at, () => void submit(client, `p${index}`, index === deadly));
  }
}

/**
 * Submits a plan. A client without an answer does not know whether its plan was accepted: with an idempotency
 * key it submits again, without one it stops.
 */
async function submit(client: Client, name: string, isDeadly: boolean): Promise<void> {
  const { world, random } = client;
  const plan = drawPlan(random, name, isDeadly);
  const isSeparate = random.chance(0.3);
  // A separate stream, so that the other draws stay the same.
  const keyed = world.random.stream(`key of ${name}`);
  const submission = {
    tenant: TENANT,
    query: null,
    plan,
    raw: name,
    diagnostics: [],
    autoExecute: !isSeparate,
    ...(keyed.chance(0.4) && { idempotency: { key: name, payloadHash: name } }),
  };
  await offer(client, submission, () => world.timeline.now() + keyed.whole(500, 4_000));
}

type Submission = Parameters<MemoryStore["submitPlan"]>[0];

/** @param later - when a client with a key submits again */
async function offer(client: Client, submission: Submission, later: () => number): Promise<void> {
  const { world, api, queue } = client;
  const { raw: name, plan, autoExecute, idempotency } = submission;
  try {
    const { plan: accepted } = await api.ask((store) => store.submitPlan(submission));
    const { _id: planId, requestId } = accepted;
    world.log.note("client received", name, planId, plan?.steps.length ?? 0, "steps");
    world.checker.accepted(planId);
    sendControls(client, planId);
    readAgain(client, planId);
    if (!autoExecute) execute(client, planId, requestId);
    else queue.offer(planId);
  } catch (error) {
    world.log.note("client received no answer to", name, String(error));
    if (idempotency) world.timeline.at(later(), () => void offer(client, submission, later));
  }
}

/** Requests the execution until the API answers. */
function execute(client: Client, planId: PlanId, requestId: RequestId): void {
  const { world, api, queue, random } = client;
  const { timeline } = world;
  timeline.at(timeline.now() + random.whole(1, 2_000), () => {
    api
      .ask((store) => store.queuePlan(TENANT, planId, requestId))
      .then(
        (plan) => plan && queue.offer(planId),
        () => execute(client, planId, requestId),
      );
  });
}

/** Draws the client's controls and their times, and sends them. */
function sendControls({ world, api, queue, random }: Client, planId: PlanId): void {
  const { settings, timeline, log } = world;
  const later = (maxMs: number): number => timeline.now() + random.whole(1, maxMs);
  type Ask = (store: MemoryStore) => Promise<PlanDocument | null>;

  function ask(name: string, at: number, operation: Ask): void {
    timeline.at(at, () => {
      api.ask(operation).then(
        (plan) => {
          log.note("client asked to", name, planId);
          if (plan) queue.offer(planId);
        },
        // The client does not know whether the API received the control, so it sends the control again.
        () => ask(name, later(2_000), operation),
      );
    });
  }

  if (random.chance(0.25)) {
    const at = later(settings.controlsUntilMs);
    ask("pause", at, (store) => store.requestPause(TENANT, planId, "client"));
    const resumesAt = at + random.whole(1, 8_000);
    if (random.chance(0.8))
      ask("resume", resumesAt, (store) => store.requestResume(TENANT, planId, "client"));
  }
  if (random.chance(0.25)) {
    ask("cancel", later(settings.controlsUntilMs), (store) => store.requestCancel(TENANT, planId, "client"));
  }
}

/** Reads the plan every few seconds until it has ended. */
function readAgain(client: Client, planId: PlanId): void {
  const { world, api, random } = client;
  const { timeline, checker } = world;
  timeline.at(timeline.now() + random.whole(200, 4_000), () => {
    api
      .ask((store) => store.getPlan(TENANT, planId))
      .then(
        (plan) => {
          checker.read(planId, plan);
          if (plan?.finishedAt === null) readAgain(client, planId);
        },
        () => readAgain(client, planId),
      );
  });
}
