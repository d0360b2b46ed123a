import { setTimeout as delay } from "node:timers/promises";
import { ApiRefusedError } from "@planwright/client";
import { type Plan, PlanSchema, planGraph } from "@planwright/plan";
import type { Random } from "../../random/random.ts";
import type { AskedVersion } from "../evidence/evidence.ts";
import type { Reading } from "../evidence/reading.ts";
import { STEP_TIMEOUT_MS } from "../plans/chaos-plan.ts";
import type { Accepted, ApiClient, ChangeOptions } from "./api-client.ts";

/** Options of {@link changePlan}. */
export interface ChangePlanOptions {
  client: Pick<ApiClient, "change" | "readPlan">;
  /** Retries a request together with others. */
  retry: BulkRetries["retry"];
  ids: Accepted;
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
export async function changePlan(options: ChangePlanOptions): Promise<boolean> {
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
function edited(random: Random, ids: Accepted, { version, plan }: CurrentPlan): Plan {
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
export interface BulkRetries {
  /** Resolves when the call is answered. */
  retry: (
    requestId: string,
    version: number,
  ) => Promise<"refused" | { planId: string } | { mayHaveActed: [] }>;
}

/** For how long requests are collected, in milliseconds. */
const COLLECT_MS = 500;

/** Collects retries of one tenant. There are never more open plans than the API takes in one call. */
export function createBulkRetries(client: Pick<ApiClient, "retryAll" | "read">): BulkRetries {
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
