/**
 * Controls are entries (J6): what clients and operators ask of a plan that was started stands in the journal of its request, with who asked and when.
 *
 * 1. A control follows from all entries before it: where another one came between, it is decided anew.
 * 2. It needs no lease, and takes none away: the owner hears of it from the plan's document within 1 s, or when it appends next.
 * 3. The plan's document follows the entry in the same command. Asked again, a control that is told already changes nothing.
 */
import type { JournalEvent } from "@planwright/engine";
import { type PlanId, UNSTARTED_PLAN_STATUSES } from "@planwright/plan";
import type { Document } from "mongodb";
import type { Collections } from "../collections.ts";
import type { PlanDocument } from "../documents.ts";
import { type JournalMetrics, timedAppend } from "../journal/journal-metrics.ts";
import { nextEntry } from "../journal/next-entry.ts";
import type { PlanUnits, UnitReads } from "../journal/unit-reads.ts";
import { repeatUntilAnswered } from "../repeat-until-answered.ts";
import type { Control, ControlLog } from "./control-log.ts";
import { headAfterControl } from "./head-after-control.ts";

/** A plan with what its journal tells, when a control is decided. */
export interface ControlledPlan {
  plan: PlanDocument;
  read: PlanUnits;
}

/** What is to be told, with what follows for the plan's document; or an answer, where nothing is. */
export type ControlDecision<Answer> =
  | { type: "tell"; event: JournalEvent; by: string; head: Document }
  | { type: "answer"; answer: Answer };

/** What was told, and the plan's document behind it. */
export interface Told {
  type: "told";
  plan: PlanDocument;
}

/** Appends controls. */
export interface AppendControl {
  /** Undefined for an unknown plan, and for another tenant's. @throws {StoreUnavailableError} */
  <Answer>(
    tenant: string,
    planId: PlanId,
    decide: (now: ControlledPlan) => ControlDecision<Answer>,
  ): Promise<Told | Answer | undefined>;
}

/** What appending controls needs. */
export interface AppendControlOptions {
  log: ControlLog;
  /** Names this process in what it writes. */
  owner: string;
  now: () => number;
  monotonic: () => number;
  sleep: (ms: number) => Promise<void>;
  /** Counts appends. Default: nothing is counted. */
  metrics?: JournalMetrics | undefined;
  /** How long what was not answered is sent again, in milliseconds: a client waits for it. Default 10,000. */
  retryForMs?: number | undefined;
  /** Waits between tries, in milliseconds. Default 250. */
  retryEveryMs?: number | undefined;
}

/** Controls over a log. */
export function createAppendControl(
  { collections: { plans }, unitReads }: { collections: Pick<Collections, "plans">; unitReads: UnitReads },
  options: AppendControlOptions,
): AppendControl {
  const { log, owner, now, monotonic, metrics } = options;
  const { sleep, retryForMs = 10_000, retryEveryMs = 250 } = options;
  let controls = 0;

  async function append(control: Control): Promise<{ type: "appended" | "taken" }> {
    const again = { operation: "control", monotonic, sleep, retryForMs, retryEveryMs };
    const taken = await repeatUntilAnswered(() => log.append(control), again);
    return { type: taken ? "taken" : "appended" };
  }

  return async (tenant, planId, decide) => {
    for (;;) {
      const [plan, read] = await Promise.all([
        plans.findOne({ _id: planId, tenant }),
        unitReads.ofPlan(tenant, planId),
      ]);
      if (!plan || !read) return undefined;
      const decided = decide({ plan, read });
      if (decided.type === "answer") return decided.answer;
      const { event, by, head } = decided;
      controls += 1;
      const entry = {
        ...nextEntry(plan, read, { by, events: [...startOf(read), event] }),
        at: new Date(now()),
        writeId: `${owner}:control:${controls}`,
      };
      const control = { entry, head: headAfterControl(entry.seq, head) };
      const { type } = await timedAppend(append(control), { metrics, monotonic });
      if (type === "taken") continue;
      const after = await plans.findOne({ _id: planId, tenant });
      return { type: "told", plan: after ?? plan };
    }
  };
}

/** That its execution was asked for is on the plan's document alone, until something is told of it. */
function startOf({ plan }: PlanUnits): JournalEvent[] {
  return UNSTARTED_PLAN_STATUSES.includes(plan?.status ?? "READY") ? [{ type: "execution.asked" }] : [];
}
