import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { ApiRefusedError } from "@planwright/client";
import { type Plan, PlanSchema, planGraph } from "@planwright/plan";
import type { Random } from "../random/random.ts";
import type { AcceptedRequest, ApiClient, ChangeOptions } from "./api-client.ts";
import { type ChaosPlan, STEP_TIMEOUT_MS, type Tenant } from "./chaos-plan.ts";
import {
  type AskedVersion,
  type BrokenPromise,
  type ClientControl,
  isSettled,
  type Reading,
  regressionsBetween,
  type SeenReading,
} from "./evidence.ts";

/** Share of the clients that submit again after an answer. */
const RESUBMITTED_SHARE = 0.1;
/** Share of the submitted plans that are cancelled, and the longest time from the submission until then. */
const CANCELLED_SHARE = 0.2;
const CANCELLED_WITHIN_MS = 1_500;
/** Share of the plans that are submitted in bursts. */
const BURST_SHARE = 0.3;
/** Share of the calls that wait for approval and are approved. The others are refused. */
const APPROVED_SHARE = 0.8;
/** Most versions of a plan that its client makes. */
const MAX_CHANGES = 3;

/** Options of {@link createPlanClients}. */
interface PlanClientsOptions {
  clientOf: Readonly<Record<Tenant, ApiClient>>;
  /** Number of plans; each has one client. */
  plans: number;
  random: Random;
  /** Plans are submitted within this time of the pace, in milliseconds. */
  withinMs: number;
  /** Resolves at a time of the pace. */
  until: (atMs: number) => Promise<void>;
  report: (violation: BrokenPromise) => void;
  /** Ends all watches. */
  signal: AbortSignal;
}

/**
 * Clients that submit plans, watch them, and control some of them. Holds everything that they sent and read.
 */
export interface PlanClients {
  /** Submits one plan at its time, and starts to watch it. */
  submit(plan: ChaosPlan): Promise<void>;
  /** Number of plans that were submitted, accepted or not, and are not settled. */
  open(): number;
  /** Resolves when every watch has ended. */
  settled(): Promise<void>;
  /** A line about the progress. */
  progress(): string;
  readonly accepted: readonly AcceptedRequest[];
  readonly asked: readonly AskedVersion[];
  readonly controls: readonly ClientControl[];
  readonly readings: readonly SeenReading[];
  /** The last reading of each watched request. */
  readonly last: ReadonlyMap<AcceptedRequest, Reading>;
}

/** One client for each plan. The seed decides what each client does. */
export function createPlanClients(options: PlanClientsOptions): PlanClients {
  const { clientOf, plans, random, withinMs, until, report, signal } = options;
  const accepted: AcceptedRequest[] = [];
  const asked: AskedVersion[] = [];
  const controls: ClientControl[] = [];
  const readings: SeenReading[] = [];
  const last = new Map<AcceptedRequest, Reading>();
  const watches: Promise<void>[] = [];
  const bulkOf = {
    large: createBulkRetries(clientOf.large),
    middle: createBulkRetries(clientOf.middle),
    small: createBulkRetries(clientOf.small),
  };
  const times = submissionTimes(random.stream("pace"), plans, withinMs);
  let submitted = 0;
  let settled = 0;

  async function cancel({ requestId, tenant }: AcceptedRequest): Promise<void> {
    const to = { type: "cancel.asked", subject: "the plan", by: tenant } as const;
    const control: ClientControl = { requestId, ...to, planId: null };
    controls.push(control);
    control.planId = await clientOf[tenant].cancel(requestId);
  }

  /** Decides, as an operator does, about each call that waits for approval. */
  async function decideAll(
    { requestId, tenant }: AcceptedRequest,
    { plan }: Reading,
    random: Random,
  ): Promise<void> {
    for (const { key, status, approvalHash } of plan?.steps ?? []) {
      if (status !== "WAITING_APPROVAL" || !approvalHash) continue;
      const subject = `${key} ${approvalHash}`;
      if (controls.some((sent) => sent.requestId === requestId && sent.subject === subject)) continue;
      const to = { type: "approval.given", subject, by: tenant } as const;
      const control: ClientControl = { requestId, ...to, planId: null };
      controls.push(control);
      const approved = random.chance(APPROVED_SHARE);
      control.planId = await clientOf[tenant].decide(requestId, { stepId: key, approvalHash, approved });
    }
  }

  async function watch(ids: AcceptedRequest): Promise<void> {
    const planRandom = random.stream(`watch ${ids.index}`);
    const { requestId } = ids;
    const client = clientOf[ids.tenant];
    let before: Reading | undefined;
    const onReading = async (reading: Reading): Promise<void> => {
      if (!isDeepStrictEqual(reading, before)) readings.push({ requestId, reading, afterSeq: 0 });
      before = reading;
      await decideAll(ids, reading, planRandom);
    };
    const watchOnce = () =>
      watchRequest({ client, accepted: ids, random: planRandom, onReading, report, signal });
    const { retry } = bulkOf[ids.tenant];
    let end = await watchOnce();
    for (let count = 0; count < MAX_CHANGES && end !== undefined; count++) {
      const options = { client, retry, ids, reading: end, random: planRandom, asked, signal };
      if (!(await changePlan(options))) break;
      end = await watchOnce();
    }
    if (end !== undefined) last.set(ids, end);
    settled += 1;
  }

  return {
    accepted,
    asked,
    controls,
    readings,
    last,
    open: () => submitted - settled,
    progress: () => `${accepted.length} of ${plans} plans accepted, ${settled} settled`,
    settled: async () => void (await Promise.all(watches)),
    async submit(plan) {
      await until(times[plan.index] ?? 0);
      submitted += 1;
      const client = clientOf[plan.tenant];
      const ids = await client.submit(plan);
      accepted.push(ids);
      watches.push(watch(ids));
      const fate = random.stream(`cancel ${plan.index}`);
      if (plan.via === "plan" && fate.chance(CANCELLED_SHARE))
        watches.push(delay(fate.whole(0, CANCELLED_WITHIN_MS)).then(() => cancel(ids)));
      if (random.stream(`again ${plan.index}`).chance(RESUBMITTED_SHARE))
        await submitAgain(client, plan, ids, { asked, report });
    },
  };
}

/** When each plan is submitted, in milliseconds: some alone, some in bursts. */
function submissionTimes(random: Random, count: number, withinMs: number): number[] {
  const bursts = Array.from({ length: 5 }, () => random.next());
  return Array.from({ length: count }, () => {
    const share = random.chance(BURST_SHARE) ? random.pick(bursts) : random.next();
    return share * withinMs;
  });
}

/** Submits again: the answer is the same ids or, after a change, the current plan. */
async function submitAgain(
  client: ApiClient,
  plan: ChaosPlan,
  { requestId, planId }: AcceptedRequest,
  { asked, report }: { asked: readonly AskedVersion[]; report: (violation: BrokenPromise) => void },
): Promise<void> {
  const again = await client.submit(plan);
  const wasChanged = asked.some((version) => version.requestId === requestId);
  if (again.requestId === requestId && (again.planId === planId || wasChanged)) return;
  const found = `${again.requestId} and ${again.planId}`;
  report({ kind: "duplicated", id: requestId, expected: "the same ids for the same key", found });
}

/** Options of {@link watchRequest}. */
interface RequestWatchOptions {
  client: Pick<ApiClient, "read">;
  accepted: AcceptedRequest;
  random: Random;
  /** Receives each reading; the next one follows when it resolves. */
  onReading: (reading: Reading) => Promise<void>;
  /** Receives regressions, and ids that the API no longer knows. */
  report: (violation: BrokenPromise) => void;
  /** Ends the watch. */
  signal: AbortSignal;
}

/** Pause between two readings, in milliseconds; up to half of it is added at random. */
const READ_EVERY_MS = 900;
/**
 * A reading that took long is followed by a longer pause, as many times as long, as a client's would: otherwise
 * the clients alone keep an overloaded machine overloaded.
 */
const PAUSE_PER_READING = 2;

/**
 * Reads a request repeatedly, like a client, until it is settled or the signal aborts. Resolves with the last
 * reading, or undefined without any.
 */
async function watchRequest(options: RequestWatchOptions): Promise<Reading | undefined> {
  const { client, accepted, random, onReading, report, signal } = options;
  const { requestId } = accepted;
  let last: Reading | undefined;
  while (!signal.aborted) {
    const startedAt = performance.now();
    const reading = await readOnce();
    const tookMs = performance.now() - startedAt;
    if (reading !== undefined) {
      await onReading(reading);
      for (const description of last === undefined ? [] : regressionsBetween(last, reading)) {
        report({ kind: "regressions", id: requestId, expected: "no regression", found: description });
      }
      last = reading;
      if (isSettled(reading)) return last;
    }
    await delay(READ_EVERY_MS * (1 + random.next() / 2) + tookMs * PAUSE_PER_READING);
  }
  return last;

  async function readOnce(): Promise<Reading | undefined> {
    try {
      return await client.read(requestId);
    } catch (error) {
      if (!(error instanceof ApiRefusedError)) throw error;
      const found = `${error.facts.code}: ${error.message}`;
      report({ kind: "lost", id: requestId, expected: "a request whose id was returned", found });
      return undefined;
    }
  }
}

/** Options of {@link changePlan}. */
interface ChangePlanOptions {
  client: Pick<ApiClient, "change" | "readPlan">;
  /** Retries a request together with others. */
  retry: BulkRetries["retry"];
  ids: AcceptedRequest;
  /** The last reading of the ended plan. */
  reading: Reading;
  random: Random;
  /** Receives the version before it is asked for. */
  asked: AskedVersion[];
  /** Stops the attempts. */
  signal: AbortSignal;
}

const ASK_AGAIN_MS = 300;
/** Share of the ended plans that a client changes, by the status of the request. */
const SHARES: Readonly<Record<string, number>> = { PARTIAL: 1, FAILED: 1, CANCELLED: 0.8, COMPLETED: 0.5 };

/** Tools of the steps that a client adds: the classes whose effects count. */
const NEW_TOOLS = ["keyed_effect", "looked_up_effect", "plain_effect"] as const;

/** A change with everything that it needs. */
type Drawn = ChangeOptions["change"] | { kind: "retry"; version: number };

/**
 * Asks for another version of an ended plan, until the API answers with it: a rerun, alone or together with
 * others, an amended plan, or the plan of an earlier version. False when there is nothing to change, or when an
 * operator has to decide first.
 */
async function changePlan(options: ChangePlanOptions): Promise<boolean> {
  const { client, ids, reading, random, signal } = options;
  const { requestId } = ids;
  const { plan, status } = reading;
  if (plan === null || plan.status === "EXPIRED" || !random.chance(SHARES[status] ?? 0)) return false;
  if (plan.steps.some((step) => step.status === "IN_DOUBT")) return false;
  let current = await client.readPlan(requestId);
  while (current === undefined && !signal.aborted) {
    await delay(ASK_AGAIN_MS);
    current = await client.readPlan(requestId);
  }
  if (current === undefined) return false;
  return ask(options, drawChange(options, current));
}

/** Sends one change until it is answered, sometimes with the steps that may be called again. */
async function ask(options: ChangePlanOptions, change: Drawn): Promise<boolean> {
  const { client, retry, ids, reading, random, asked, signal } = options;
  const { requestId } = ids;
  const { planId } = reading;
  const from = change.kind === "rerun" ? change.from : null;
  const acceptRepeat = new Set<string>();
  while (!signal.aborted) {
    const { kind } = change;
    const version: AskedVersion = {
      requestId,
      planId,
      kind,
      from,
      storedAs: null,
      acceptRepeat: [...acceptRepeat],
    };
    asked.push(version);
    const refuse = (): void => void asked.splice(asked.indexOf(version), 1);
    // One key for all tries: one that was received without an answer, or arrives late, makes no other version.
    const key = `chaos-${kind}-${planId}-${acceptRepeat.size}`;
    const result =
      change.kind === "retry"
        ? await retry(requestId, change.version)
        : await untilAnswered(() =>
            client.change(requestId, { change, acceptRepeat: [...acceptRepeat], key }),
          );
    if (result === undefined) return false;
    if (result === "refused") {
      refuse();
      return false;
    }
    if ("planId" in result) {
      version.storedAs = result.planId;
      return true;
    }
    // An operator finds out that the calls may be made again, or gives up.
    refuse();
    if (change.kind === "retry") return ask(options, { kind: "rerun", from: null });
    if (random.chance(0.3) || acceptRepeat.size > 50) return false;
    for (const unit of result.mayHaveActed) acceptRepeat.add(unit.replace(/\[\d+\]$/, ""));
  }
  return false;

  async function untilAnswered<T>(send: () => Promise<T | undefined>): Promise<T | "refused" | undefined> {
    while (!signal.aborted) {
      try {
        const answer = await send();
        if (answer !== undefined) return answer;
      } catch (error) {
        // Another call of these steps had other arguments, or a step is in doubt.
        if (!(error instanceof ApiRefusedError) || error.facts.code !== "STATE_CONFLICT") throw error;
        return "refused";
      }
      await delay(ASK_AGAIN_MS);
    }
    return undefined;
  }
}

type CurrentPlan = NonNullable<Awaited<ReturnType<ApiClient["readPlan"]>>>;

function drawChange(
  { random, ids, reading: { plan, status } }: Pick<ChangePlanOptions, "random" | "ids" | "reading">,
  current: CurrentPlan,
): Drawn {
  const { version } = current;
  const isFailed = status === "FAILED" || status === "PARTIAL";
  const kind = random.weighted([
    [status === "COMPLETED" ? 0 : 4, "rerun"],
    [isFailed ? 2 : 0, "retry"],
    [3, "amend"],
    [version > 1 ? 3 : 0, "restore"],
  ] as const);
  if (kind === "retry") return { kind, version };
  if (kind === "restore") return { kind, version, restoreVersion: random.whole(1, version) };
  if (kind === "amend") return { kind, version, plan: edited(random, ids, current) };
  const lists = unfinishedLists(plan?.steps ?? []);
  return { kind, from: lists.length > 0 && random.chance(0.5) ? random.pick(lists) : null };
}

/**
 * The same plan, or one with a step under another id, without a last step, with another step, or with another
 * time limit.
 */
function edited(random: Random, ids: AcceptedRequest, { version, plan }: CurrentPlan): Plan {
  const { steps } = plan;
  const { id } = random.pick(steps);
  const read = new Set([...planGraph(plan).dependencies.values()].flat());
  const unread = steps.filter((step) => !read.has(step.id));
  switch (random.pick(["nothing", "name", "name", "fewer", "more", "limit"])) {
    case "name": {
      const text = JSON.stringify(steps).replaceAll(`<<${id}.`, `<<${id}r.`);
      const renamed = (of: string): string => (of === id ? `${id}r` : of);
      const named = PlanSchema.shape.steps.parse(JSON.parse(text)).map((step) => ({
        ...step,
        id: renamed(step.id),
        dependsOn: step.dependsOn.map(renamed),
      }));
      return PlanSchema.parse({ ...plan, steps: named });
    }
    case "fewer": {
      const gone = random.pick(unread).id;
      return steps.length > 1 ? { ...plan, steps: steps.filter((step) => step.id !== gone) } : plan;
    }
    case "more": {
      const [last] = steps.slice(-1);
      const label = `${ids.index}/more${version}`;
      const call = {
        tool: random.pick(NEW_TOOLS),
        arguments: { value: { label, from: {} }, reference: label },
      };
      const step = {
        ...call,
        id: `more${version}`,
        dependsOn: last ? [last.id] : [],
        timeoutMs: STEP_TIMEOUT_MS,
      };
      return PlanSchema.parse({ ...plan, steps: [...steps, step] });
    }
    case "limit":
      return {
        ...plan,
        steps: steps.map((step) =>
          step.id === id ? { ...step, timeoutMs: random.whole(2_500, 3_000) } : step,
        ),
      };
    default:
      return plan;
  }
}

/** Lists with an item that did not complete; of a completed list, a condition skipped the SKIPPED ones. */
function unfinishedLists(steps: NonNullable<Reading["plan"]>["steps"]): string[] {
  const completed = new Set(steps.flatMap(({ key, status }) => (status === "COMPLETED" ? [key] : [])));
  const isOpen = ({ key, status }: (typeof steps)[number]): boolean =>
    status !== "COMPLETED" && (status !== "SKIPPED" || !completed.has(key.slice(0, key.indexOf("["))));
  const open = steps.filter((step) => step.key.endsWith("]") && isOpen(step));
  return [...new Set(open.map(({ key }) => key.slice(0, key.indexOf("["))))];
}

/** Retries of many requests of one tenant, a moment's requests in one call. */
interface BulkRetries {
  /** Resolves when the call is answered. */
  retry: (
    requestId: string,
    version: number,
  ) => Promise<"refused" | { planId: string } | { mayHaveActed: [] }>;
}

/** For how long requests are collected, in milliseconds. */
const COLLECT_MS = 500;

/** Collects retries of one tenant. There are never more open plans than the API takes in one call. */
function createBulkRetries(client: Pick<ApiClient, "retryAll" | "read">): BulkRetries {
  let waiting: { requestId: string; version: number }[] = [];
  let next: Promise<ReadonlyMap<string, string>> | undefined;

  async function send(): Promise<ReadonlyMap<string, string>> {
    await delay(COLLECT_MS);
    const requests = waiting;
    waiting = [];
    next = undefined;
    const key = `chaos-retry-${requests.length}-${requests[0]?.requestId}-${requests[0]?.version}`;
    for (;;) {
      const refused = await client.retryAll(requests, key);
      if (refused) return refused;
      await delay(ASK_AGAIN_MS);
    }
  }

  return {
    async retry(requestId, version) {
      waiting.push({ requestId, version });
      next ??= send();
      const code = (await next).get(requestId);
      if (code === "REPEAT_NOT_ACCEPTED") return { mayHaveActed: [] };
      if (code !== undefined) return "refused";
      for (;;) {
        const reading = await client.read(requestId);
        if (reading) return { planId: reading.planId };
        await delay(ASK_AGAIN_MS);
      }
    },
  };
}
