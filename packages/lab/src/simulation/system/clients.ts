import type { Resolution, StepRun } from "@planwright/engine";
import {
  isKeyed,
  isTerminalPlanStatus,
  type JsonObject,
  type Plan,
  type PlanId,
  PlanSchema,
  pinTools,
  planGraph,
  type RequestId,
} from "@planwright/plan";
import type { AmendAnswer, PlanDocument, ReplanAnswer, RerunAnswer } from "@planwright/store";
import { createMemoryStore, type MemoryStore } from "@planwright/store/memory";
import type { UnitChange } from "../../journal/unit-changes.ts";
import {
  chain,
  diamond,
  drawItemCondition,
  drawListOptions,
  fanIn,
  type GraphStep,
  scattered,
} from "../../random/plan-shapes.ts";
import type { Random } from "../../random/random.ts";
import { nameOfUnit, unitsOfStep } from "../checker/plan-facts.ts";
import { BATCH_PARAM, CATALOGUE, DEADLY_TOOL, TENANT, TOOL_FACTS } from "../world/catalogue.ts";
import { createProcess, type SimulatedProcess, type Timeline } from "../world/processes.ts";
import type { Executors } from "./executors.ts";
import { createReach, type JobQueue, type World } from "./world.ts";

/** One client with one plan. */
interface Client {
  world: World;
  api: SimulatedApi;
  queue: JobQueue;
  random: Random;
  /** Draws the later versions of its plan; undefined in a world without them. */
  history: Random | undefined;
  /** Versions that clients are making. */
  changing: Set<string>;
}

/** Most versions of a plan. */
const MAX_VERSIONS = 5;

/**
 * Clients submit their plans, send controls, read the results, and make other versions. The returned function says
 * whether a client is about to make one.
 */
export function startClients(world: World, api: SimulatedApi, queue: JobQueue): () => boolean {
  const { settings, timeline } = world;
  const random = world.random.stream("clients");
  // Separate streams, so that the other draws stay the same.
  const hasHistories =
    world.random.stream("histories").chance(settings.histories) || settings.keptMs !== null;
  const changing = new Set<string>();
  const deadly = settings.hasDeadlyPlan ? random.whole(0, settings.plans - 1) : -1;
  for (let index = 0; index < settings.plans; index++) {
    const history = hasHistories ? world.random.stream(`history of p${index}`) : undefined;
    const client = { world, api, queue, random: random.stream(`p${index}`), history, changing };
    const at = index === 0 ? 1 : random.whole(1, 10_000);
    timeline.at(at, () => void submit(client, `p${index}`, index === deadly));
  }
  return () => changing.size > 0;
}

/**
 * Submits a plan. A client without an answer does not know whether its plan was accepted: with an idempotency
 * key it submits again, without one it stops.
 */
async function submit(client: Client, name: string, isDeadly: boolean): Promise<void> {
  const { world, random } = client;
  const { plannedBatches } = world.settings;
  const plan = drawPlan(random, name, { isDeadly, plannedBatches });
  const isSeparate = random.chance(0.3);
  // A separate stream, so that the other draws stay the same.
  const keyed = world.random.stream(`key of ${name}`);
  const submission = {
    tenant: TENANT,
    query: null,
    plan,
    toolPins: pinTools(plan, CATALOGUE),
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
    else if (accepted.status === "QUEUED") queue.offer(planId);
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
    const resume: Ask = (store) => store.requestResume(TENANT, planId, "client");
    if (random.chance(0.8)) ask("resume", resumesAt, resume);
    // A pause has no limit, and one whose answer was lost may begin after its resume.
    ask("resume", at + NIGHT_MS, resume);
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
          else if (plan) changeLater(client, plan);
        },
        () => readAgain(client, planId),
      );
  });
}

/** Makes another version of a plan that has ended, sometimes. */
function changeLater(client: Client, plan: PlanDocument): void {
  const { world, history, changing } = client;
  const { timeline } = world;
  if (!history || plan.version >= MAX_VERSIONS || plan.error?.code === "POISONED" || history.chance(0.2))
    return;
  const change = drawChange(client, plan);
  const key = `${plan._id} ${plan.version}`;
  changing.add(key);
  const tryAt = (at: number, acceptRepeat: readonly string[], triesLeft: number): void => {
    timeline.at(at, () => void ask(acceptRepeat, triesLeft));
  };
  async function ask(acceptRepeat: readonly string[], triesLeft: number): Promise<void> {
    const later = timeline.now() + (history?.whole(200, 3_000) ?? 0);
    try {
      for (const id of acceptRepeat) accepted(client, plan, change.next, id);
      const { records } = world.checker;
      const version = plan.version + 1;
      records.asked(plan.requestId, version, { plan: change.next, accepted: new Set(acceptRepeat) });
      const answer = await client.api.ask((store) => change.send(store, acceptRepeat));
      world.log.note("client changes", plan._id, change.kind, acceptRepeat.join(","), answer.type);
      const keys = "keys" in answer ? answer.keys : [];
      const isRefused = answer.type === "repeat not accepted" || answer.type === "may have acted";
      if (isRefused) records.toAccept(plan.requestId, version, keys);
      if (isRefused && triesLeft > 0 && history?.chance(0.6)) {
        const named = keys.map((unit) => unit.replace(/\[\d+\]$/, ""));
        return tryAt(later, [...new Set([...acceptRepeat, ...named])], triesLeft - 1);
      }
      changing.delete(key);
      const { type } = answer;
      if (type !== "rerun" && type !== "amended" && type !== "repeated" && type !== "replanned") return;
      const { planId } = answer.request;
      world.checker.accepted(planId);
      client.queue.offer(planId);
      readAgain(client, planId);
    } catch (error) {
      // The API may have made the version: under its key the same change is made once.
      world.log.note("client received no answer about", plan._id, String(error));
      if (triesLeft > 0) tryAt(later, acceptRepeat, triesLeft - 1);
      else changing.delete(key);
    }
  }
  tryAt(timeline.now() + history.whole(1, 3_000), [], 8);
}

/** Another version that a client wants. */
interface Change {
  kind: string;
  /** The plan of the version. */
  next: Plan;
  send(store: MemoryStore, acceptRepeat: readonly string[]): Promise<RerunAnswer | AmendAnswer | Replanned>;
}

function drawChange(
  { world, history: random }: Client,
  { requestId, plan, version, raw, status }: PlanDocument,
): Change {
  if (!random || !plan) throw new TypeError("Only plans with a history are changed");
  const idempotency = (acceptRepeat: readonly string[]) => {
    const key = `${requestId} ${version} ${acceptRepeat.join()}`;
    return { idempotency: { key, payloadHash: key }, acceptRepeat, fromVersion: version, autoExecute: true };
  };
  if (random.chance(0.45)) {
    const from = random.chance(0.5) ? random.pick(plan.steps).id : null;
    return {
      kind: `rerun ${from}`,
      next: plan,
      send: (store, named) => store.rerunPlan(TENANT, requestId, { ...idempotency(named), from }),
    };
  }
  const replanned = random.chance(0.15) && status !== "COMPLETED";
  const versions = [...world.checker.plans()].filter(({ document }) => document.requestId === requestId);
  const base = random.chance(0.4) ? random.pick(versions).plan : plan;
  const next = random.chance(0.3) ? base : edited(random, base);
  const amended = { plan: next, toolPins: pinTools(next, CATALOGUE), raw, diagnostics: [] };
  if (replanned) {
    const send: Change["send"] = (store) => replan(store, requestId, { ...amended, version });
    return { kind: "replan", next, send };
  }
  return {
    kind: "amend",
    next,
    send: (store, named) => store.amendPlan(TENANT, requestId, { ...amended, ...idempotency(named) }),
  };
}

/** A version that a planner wrote, or the answer when there was nothing to replan. */
type Replanned = { type: "replanned"; request: { planId: PlanId } } | ReplanAnswer;

/**
 * Asks for a replan, and stores its version as a planner does. After an error the same is done again: a planner
 * that dies leaves a request that another planner claims.
 */
async function replan(
  store: MemoryStore,
  requestId: RequestId,
  {
    version,
    ...written
  }: Pick<Submission, "diagnostics" | "toolPins"> & { version: number; plan: Plan; raw: string | null },
): Promise<Replanned> {
  const key = `${requestId} ${version}`;
  const idempotency = { key, payloadHash: key };
  const asked = { note: null, execute: true, fromVersion: version, idempotency };
  const answer = await store.requestReplan(TENANT, requestId, asked);
  if (answer.type !== "replanning" && answer.type !== "repeated") return answer;
  const claim = await store.claimRequest(requestId, `planner of ${key}`);
  if (claim === null) return { type: "repeated", request: answer.request };
  const origin = { kind: "model", model: "scripted" } as const;
  const { _id: planId } = await store.completeReplan(claim, { ...written, origin });
  return { type: "replanned", request: { planId } };
}

/** The plan with a step under another id, without its last step, or with other limits. */
function edited(random: Random, plan: Plan): Plan {
  const { steps } = plan;
  const drawn = random.next();
  const last = steps.at(-1);
  if (drawn < 0.35 && steps.length > 1 && last && !namesIn(steps.slice(0, -1)).has(last.id))
    return PlanSchema.parse({ ...plan, steps: steps.slice(0, -1) });
  const { id } = random.pick(steps);
  if (drawn < 0.7) {
    // Names of arguments stay: with other names it would be another call.
    const named = JSON.stringify(steps).replaceAll(new RegExp(`"${id}"(?!:)`, "g"), `"${id}r"`);
    return PlanSchema.parse({ ...plan, steps: JSON.parse(named.replaceAll(`<<${id}.`, `<<${id}r.`)) });
  }
  const changed = steps.map((step) => (step.id === id ? { ...step, timeoutMs: 5_000 } : step));
  return PlanSchema.parse({ ...plan, steps: changed });
}

/** Ids of the steps that others depend on. */
function namesIn(steps: Plan["steps"]): Set<string> {
  return new Set([...planGraph({ steps }).dependencies.values()].flat());
}

/** The calls of a step, in either plan, may be repeated in the next version. */
function accepted({ world }: Client, { plan, version }: PlanDocument, next: Plan, id: string): void {
  for (const step of [...(plan?.steps ?? []), ...next.steps]) {
    if (step.id !== id) continue;
    for (const unit of unitsOfStep(step)) world.checker.effects.repeatAccepted(unit, version + 1);
  }
}

const TOOLS = [
  "read",
  "read",
  "natural",
  "keyed",
  "keyed",
  "keyed: two at once (größe)",
  "keyed_barrier",
  "looked_up",
  "looked_up",
  "looked_up_late",
  "plain",
  "plain",
  "plain_alone",
] as const;
/** Share of the steps whose tool needs approval. */
const GUARDED_RATE = 0.04;
/** Share of the steps that are lists. */
const LIST_RATE = 0.22;
const TOOLS_OF_LISTS = [
  "read",
  "read_in_batches",
  "keyed",
  "keyed_in_batches",
  "keyed_in_envelopes",
  "looked_up",
  "plain",
] as const;

/** Most items of a list. */
const MAX_ITEMS = 6;

/** Share of the dependencies without a reference to an output: the step only waits. */
const WAIT_RATE = 0.2;

/**
 * A plan of 1 to 12 steps. Every call has the name of its unit (`p0/s3`, for items `p0/s3/2`) in its argument
 * `unit`, so that the checker can find the units of a call without keys.
 * @param name - of the plan, such as "p0"
 */
function drawPlan(
  random: Random,
  name: string,
  { isDeadly, plannedBatches }: { isDeadly: boolean; plannedBatches: number },
): Plan {
  const count = random.chance(0.15) ? 1 : random.whole(2, 12);
  const deadlyAt = isDeadly ? random.whole(0, count - 1) : -1;
  const steps = drawGraph(random, count).map((step, index) =>
    drawStep(random, name, step, { index, isDeadly: index === deadlyAt, plannedBatches }),
  );
  const policy: JsonObject = {
    maxParallel: random.pick([1, 2, 4, 16]),
    stepTimeoutMs: random.pick([1_500, 4_000, 8_000]),
    onStepFailure: random.pick(["auto", "auto", "fail-fast", "fail-forward", "run-dependents"]),
    unreachableMs: random.pick([0, 3_000, 10_000, 600_000]),
  };
  // Longer than any plan's own time, or so short that decisions come too late.
  const approvalTimeoutMs = policy["unreachableMs"] === 3_000 ? 5_000 : 300_000;
  return PlanSchema.parse({ steps, policy: { ...policy, approvalTimeoutMs } });
}

function drawGraph(random: Random, count: number): GraphStep[] {
  const shape = random.weighted([
    [6, "scattered"],
    [1, "chain"],
    [1, "diamond"],
    [1, "fan-in"],
  ] as const);
  if (shape === "chain") return chain(count);
  if (shape === "diamond" && count >= 3) return diamond(count);
  return shape === "fan-in" ? fanIn(count) : scattered(random, count);
}

function drawStep(
  random: Random,
  plan: string,
  { id, dependsOn }: GraphStep,
  { index, isDeadly, plannedBatches }: { index: number; isDeadly: boolean; plannedBatches: number },
): JsonObject {
  const unit = `${plan}/${id}`;
  const earlier = Array.from({ length: index }, (_, position) => `s${position}`);
  const waitsFor = dependsOn.filter(() => random.chance(WAIT_RATE));
  const uses = dependsOn.filter((each) => !waitsFor.includes(each));
  const common: JsonObject = { id, dependsOn: waitsFor, ...drawOptions(random, earlier) };
  if (random.chance(LIST_RATE) && !isDeadly) {
    const [source] = uses;
    const items = source === undefined ? [1, 2, 3, 4, 5, 6].slice(random.whole(0, 5)) : `<<${source}.list>>`;
    const tool = random.pick(TOOLS_OF_LISTS);
    const ofItem = { unit: `${unit}/<<index>>`, item: "<<item>>" };
    const isPlanned =
      TOOL_FACTS.get(tool)?.hasBatches && random.stream(`batch of ${unit}`).chance(plannedBatches);
    const call = { tool, arguments: isPlanned ? { [BATCH_PARAM]: [ofItem] } : ofItem };
    const options = { concurrency: random.whole(1, 4), ...drawListOptions(random) };
    const when = drawItemCondition(random.stream(`condition of ${unit}`), MAX_ITEMS);
    return { ...common, forEach: { items, ...options, ...(when && { when }), do: call } };
  }
  const inputs = Object.fromEntries(uses.map((use) => [use, `<<${use}.value>>`]));
  const isGuarded = random.chance(GUARDED_RATE);
  const tool = isDeadly ? DEADLY_TOOL : isGuarded ? "plain_guarded" : random.pick(TOOLS);
  return { ...common, tool, arguments: { unit, ...inputs } };
}

function drawOptions(random: Random, earlier: readonly string[]): JsonObject {
  const options: JsonObject = {};
  if (random.chance(0.3)) {
    const initialMs = random.whole(0, 2_000);
    options["retry"] = {
      maxAttempts: random.whole(1, 4),
      initialMs,
      maxMs: initialMs + random.whole(0, 8_000),
    };
  }
  if (random.chance(0.1)) options["onError"] = random.pick(["fail-fast", "fail-forward", "run-dependents"]);
  if (random.chance(0.04)) options["approval"] = true;
  const [first] = earlier;
  if (random.chance(0.06) && first !== undefined) options["when"] = { status: [first, "COMPLETED"] };
  return options;
}

/** How long a client waits for an answer, in milliseconds. */
const CLIENT_TIMEOUT_MS = 5_000;

/** The API for clients and operators: one process, which is restarted when it dies. */
export interface SimulatedApi {
  /**
   * Sends an operation to the API. Rejects when no answer comes in time; the API may have executed the
   * operation.
   */
  ask<T>(operation: (store: MemoryStore) => Promise<T>): Promise<T>;
  /** The current process; null while the API is down. */
  process(): SimulatedProcess | null;
}

/** The API did not answer in time, or refused the connection. */
class NoAnswerError extends TypeError {}

/** Starts the API, in a process of its own or in those of executors. */
export function startApi(world: World, executors: Pick<Executors, "anyApi">): SimulatedApi {
  const random = world.random.stream("api");
  return world.settings.composed > 0 ? composedApi(world, executors, random) : apiApart(world, random);
}

/** The API of the processes of executors: each request goes to one of them. */
function composedApi(
  { timeline }: World,
  executors: Pick<Executors, "anyApi">,
  random: Random,
): SimulatedApi {
  return {
    process: () => executors.anyApi(random)?.process ?? null,
    ask: (operation) =>
      answered(timeline, () => {
        const api = executors.anyApi(random);
        if (!api) return null;
        return new Promise((resolve, reject) => {
          api.process.deliver(timeline.now(), () => void operation(api.store).then(resolve, reject));
        });
      }),
  };
}

/** The answer to a request. @param send - null: the connection is refused */
function answered<T>(timeline: Timeline, send: () => Promise<T> | null): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancelTimeout = timeline.at(timeline.now() + CLIENT_TIMEOUT_MS, () =>
      reject(new NoAnswerError("no answer")),
    );
    const answer = send();
    if (answer) return void answer.then(resolve, reject).finally(cancelTimeout);
    // An API that is down refuses the connection after a short time.
    timeline.at(timeline.now() + 100, () => reject(new NoAnswerError("refused")));
  });
}

function apiApart(world: World, random: Random): SimulatedApi {
  const { settings, timeline, faults } = world;
  const clocks = world.random.stream("clock of the api");
  let current: { process: SimulatedProcess; store: MemoryStore } | null = null;

  function start(life: number): void {
    const name = `api.${life}`;
    const process = createProcess(name, {
      timeline,
      random: world.random.stream(name),
      wallOffsetMs: Math.round((clocks.next() * 2 - 1) * settings.wallOffsetMs),
      onDeath() {
        current = null;
        const at = timeline.now() + random.whole(50, 2_000);
        faults.note(at);
        timeline.at(at, () => start(life + 1));
      },
    });
    const direct = createReach(world, process);
    const reach = world.mutant?.clientReach?.(direct) ?? direct;
    const store = createMemoryStore({
      database: world.database,
      owner: name,
      retryForMs: settings.retryForMs,
      reach,
      monotonic: () => process.clock.now(),
      wall: () => process.wall(),
      sleep: (ms) => process.sleep(ms),
      randomBytes: (bytes) => bytes.forEach((_, index) => (bytes[index] = random.whole(0, 255))),
    });
    current = {
      process,
      store: world.mutant?.clientStore?.(store, { database: world.database, reach }) ?? store,
    };
  }

  start(0);
  return {
    process: () => current?.process ?? null,
    ask: (operation) => answered(timeline, () => current && operation(current.store)),
  };
}

/** A decision that would come later than this comes only after a night. */
const LATE_MS = 8_000;
/** Longer than any plan's own time, and than the limit of some approvals. */
const NIGHT_MS = 240_000;

/**
 * An operator who decides about most approvals, and about each doubt, which has no limit, after some time. The
 * returned function receives the changes of units.
 */
export function startOperator(world: World, api: SimulatedApi): (change: UnitChange) => void {
  const { timeline, checker, log } = world;
  const random = world.random.stream("operator");

  function later(decision: () => Promise<unknown>, isExpiring = true): void {
    const soonMs = random.whole(50, random.chance(0.2) ? 10_000 : 1_500);
    const isSeen = random.chance(0.85);
    if (!isSeen && isExpiring) return;
    const delayMs = isSeen && soonMs <= LATE_MS ? soonMs : NIGHT_MS;
    timeline.at(timeline.now() + delayMs, () => void decision().catch(() => later(decision, isExpiring)));
  }

  function unitsOf(planId: string, stepId: string): string[] {
    const facts = checker.facts(planId);
    const step = facts?.steps.get(stepId);
    return step ? unitsOfStep(step.step) : [];
  }

  function approve(unit: StepRun): void {
    const { planId, stepId, approvalHash } = unit;
    const approved = random.chance(0.9);
    later(async () => {
      if (!approvalHash) return;
      const version = checker.facts(planId)?.document.version;
      for (const one of unitsOf(planId, stepId)) checker.effects.repeatAccepted(one, version);
      const decision = { stepId, approved, approvalHash, reason: null, by: "operator" };
      const { type } = await api.ask((store) => store.approveStep(TENANT, planId, decision));
      log.note("operator says", approved ? "yes" : "no", "to", `${unit.planId}/${unit.key}`, type);
    });
  }

  function resolve(unit: StepRun): void {
    const { planId, key } = unit;
    const attempt = unit.attempts.length;
    const resolution = drawResolution(random);
    later(async () => {
      // Counted before the API receives it, because a decision without an answer may have arrived.
      const facts = checker.facts(planId);
      const name = facts ? nameOfUnit(facts, unit) : "";
      // An operator who is wrong lets a later version call again.
      if (resolution.type === "failed") checker.effects.repeatAccepted(name);
      if (resolution.type === "retry") checker.effects.allowedAgain(name);
      // For a call with a key, "retry" does not decide about the earlier call, unless the plan has ended.
      const hasEnded = facts !== undefined && isTerminalPlanStatus(facts.document.status);
      if (resolution.type !== "retry" || !isKeyed(unit) || hasEnded) checker.records.resolvedByOperator(name);
      const { type } = await api.ask((store) =>
        store.resolveUnits(TENANT, planId, { by: "operator", decisions: [{ key, attempt, resolution }] }),
      );
      log.note(
        "operator says",
        resolution.type,
        "of",
        `${unit.planId}/${unit.key}`,
        "attempt",
        attempt,
        type,
      );
    }, false);
  }

  return ({ before, after }) => {
    if (before?.status === after.status) return;
    if (after.status === "WAITING_APPROVAL") approve(after);
    if (after.status === "IN_DOUBT") resolve(after);
  };
}

function drawResolution(random: Random): Resolution {
  const drawn = random.next();
  if (drawn < 0.4) return { type: "retry" };
  if (drawn < 0.8) return { type: "completed", output: { value: 0, list: [] } };
  const error = { code: "SETTLED_AS_FAILED", message: "an operator says so", retryable: false };
  return { type: "failed", error };
}
