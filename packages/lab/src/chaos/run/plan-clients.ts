import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { ApiRefusedError } from "@planwright/client";
import type { Random } from "../../random/random.ts";
import type { AskedControl, AskedVersion, SeenReading, Violation } from "../evidence/evidence.ts";
import { isSettled, type Reading, regressionsBetween } from "../evidence/reading.ts";
import type { ChaosPlan, Tenant } from "../plans/chaos-plan.ts";
import type { Accepted, ApiClient } from "./api-client.ts";
import { changePlan, createBulkRetries } from "./change-plan.ts";

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
export interface PlanClientsOptions {
  clientOf: Readonly<Record<Tenant, ApiClient>>;
  /** Number of plans; each has one client. */
  plans: number;
  random: Random;
  /** Plans are submitted within this time of the pace, in milliseconds. */
  withinMs: number;
  /** Resolves at a time of the pace. */
  until: (atMs: number) => Promise<void>;
  report: (violation: Violation) => void;
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
  readonly accepted: readonly Accepted[];
  readonly asked: readonly AskedVersion[];
  readonly controls: readonly AskedControl[];
  readonly readings: readonly SeenReading[];
  /** The last reading of each watched request. */
  readonly last: ReadonlyMap<Accepted, Reading>;
}

/** One client for each plan. The seed decides what each client does. */
export function createPlanClients(options: PlanClientsOptions): PlanClients {
  const { clientOf, plans, random, withinMs, until, report, signal } = options;
  const accepted: Accepted[] = [];
  const asked: AskedVersion[] = [];
  const controls: AskedControl[] = [];
  const readings: SeenReading[] = [];
  const last = new Map<Accepted, Reading>();
  const watches: Promise<void>[] = [];
  const bulkOf = {
    large: createBulkRetries(clientOf.large),
    middle: createBulkRetries(clientOf.middle),
    small: createBulkRetries(clientOf.small),
  };
  const times = submissionTimes(random.stream("pace"), plans, withinMs);
  let submitted = 0;
  let settled = 0;

  async function cancel({ requestId, tenant }: Accepted): Promise<void> {
    const to = { type: "cancel.asked", subject: "the plan", by: tenant } as const;
    const control: AskedControl = { requestId, ...to, planId: null };
    controls.push(control);
    control.planId = await clientOf[tenant].cancel(requestId);
  }

  /** Decides, as an operator does, about each call that waits for approval. */
  async function decideAll(
    { requestId, tenant }: Accepted,
    { plan }: Reading,
    random: Random,
  ): Promise<void> {
    for (const { key, status, approvalHash } of plan?.steps ?? []) {
      if (status !== "WAITING_APPROVAL" || !approvalHash) continue;
      const subject = `${key} ${approvalHash}`;
      if (controls.some((sent) => sent.requestId === requestId && sent.subject === subject)) continue;
      const to = { type: "approval.given", subject, by: tenant } as const;
      const control: AskedControl = { requestId, ...to, planId: null };
      controls.push(control);
      const approved = random.chance(APPROVED_SHARE);
      control.planId = await clientOf[tenant].decide(requestId, { stepId: key, approvalHash, approved });
    }
  }

  async function watch(ids: Accepted): Promise<void> {
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
  { requestId, planId }: Accepted,
  { asked, report }: { asked: readonly AskedVersion[]; report: (violation: Violation) => void },
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
  accepted: Accepted;
  random: Random;
  /** Receives each reading; the next one follows when it resolves. */
  onReading: (reading: Reading) => Promise<void>;
  /** Receives regressions, and ids that the API no longer knows. */
  report: (violation: Violation) => void;
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
