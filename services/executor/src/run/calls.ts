/**
 * The calls of one run. Each has its intent, its slot under limits, its approval, and the tool with which the
 * plan was made.
 */
import {
  type Call,
  effectOfCall,
  isUnansweredLookup,
  isUnreachable,
  type Outcome,
  unitKeysOf,
} from "@planwright/engine";
import { type JsonValue, sha256 } from "@planwright/plan";
import type { Slot } from "@planwright/queue";
import type { RunClock } from "@planwright/runtime";
import type { AttemptEnd, ExecutionStore, PlanClaim } from "@planwright/store";
import type { Clearance, ToolClients } from "@planwright/tools";
import type { Approvals } from "../controls/approvals.ts";
import type { RunMetrics } from "../metrics/run-metrics.ts";
import type { OutputRecorder } from "../outputs/output-recorder.ts";
import type { PlanSecrets } from "../secrets/secrets.ts";
import { askLookup } from "../tools/ask-lookup.ts";
import type { CallRecorder } from "../tools/call-recorder.ts";
import type { PlanLimits } from "../tools/plan-limits.ts";
import type { PlanTools } from "../tools/plan-tools.ts";
import type { AttemptTrace, PlanTrace } from "../tracing/run-traces.ts";
import { type ClearanceParts, createClearances } from "./clearances.ts";
import { createEarlierCalls } from "./earlier-calls.ts";
import type { PendingWrites } from "./pending-writes.ts";
import { redactedOutcome } from "./redacted-outcome.ts";
import type { RightToCall } from "./right-to-call.ts";
import type { RunTimers } from "./timers.ts";

/** Dependencies of {@link createRunCalls}. */
export interface RunCallsParts extends ClearanceParts {
  claim: PlanClaim;
  planTools: PlanTools;
  store: Pick<ExecutionStore, "now" | "readRepeats">;
  tools: Pick<ToolClients, "callTool">;
  secrets: PlanSecrets | undefined;
  limits: PlanLimits | undefined;
  approvals: Pick<Approvals, "refusalOf">;
  outputs: Pick<OutputRecorder, "note"> | undefined;
  callRecorder: Pick<CallRecorder, "note"> | undefined;
  pending: PendingWrites;
  right: RightToCall;
  timers: Pick<RunTimers, "wait">;
  clock: RunClock;
  metrics: RunMetrics;
  trace: PlanTrace | undefined;
  /** Called when a call has ended. */
  onEnded: (call: Call, outcome: Outcome) => void;
}

/** The calls in progress of one run. */
export interface RunCalls {
  /** Rejects when the run cannot continue because the lease or the database is lost. */
  make(call: Call): Promise<void>;
  abort(key: string, reason?: string): void;
  abortAll(): void;
}

/** How a call is sent. */
interface Sending {
  idempotencyKey: string;
  signal: AbortSignal;
  /** Its slot under a limit beyond the plan. */
  slot?: Slot | undefined;
}

/** Creates the calls of a run; no call is in progress yet. */
export function createRunCalls(parts: RunCallsParts): RunCalls {
  const { claim, planTools, store, tools, secrets, limits, approvals, pending, right, timers } = parts;
  const { clock, metrics, trace, hasEnded, onEnded } = parts;
  const { plan } = claim;
  const controllers = new Map<string, AbortController>();
  const clearances = createClearances(parts);
  const earlierCalls = createEarlierCalls(claim, store);

  async function make(call: Call): Promise<void> {
    const controller = new AbortController();
    controllers.set(call.key, controller);
    const sent = earlierCalls.mayRepeat(call) ? await earlierCalls.compare(call) : {};
    if ("type" in sent) return ended(call, sent);
    const refusal = call.approvable && !call.verify ? await approvals.refusalOf(call) : null;
    if (refusal) return ended(call, { type: "failed", effect: "none", error: refusal });
    const toSendAs = { idempotencyKey: sent.sentKey ?? keyOf(call), signal: controller.signal };
    const entering = limits?.enter(call);
    if (!entering) return attempt(call, toSendAs);
    const entry = await entering;
    if (entry.type === "deferred") return ended(call, entry);
    try {
      if (controller.signal.aborted) return ended(call, { type: "aborted" });
      await attempt(call, { ...toSendAs, slot: entry.slot });
    } finally {
      entry.slot.release();
    }
  }

  async function attempt(call: Call, sending: Sending): Promise<void> {
    const { idempotencyKey, slot } = sending;
    const attemptId = clock.id();
    const [unit, ...others] = unitKeysOf(call);
    const isPlain = others.length === 0 && idempotencyKey === `${plan._id}/${unit}`;
    const sentKey = call.effectClass === "K" && !isPlain ? { sentKey: idempotencyKey } : {};
    await pending.intend(call, { attemptId, argsHash: sha256(JSON.stringify(call.arguments)), ...sentKey });
    if (!(await right.wait())) return;
    const startedAt = clock.now();
    if (call.attempt > 1 && !call.verify) metrics.retried();
    const attemptTrace = trace?.attempt(call);
    const outcome = redactedOutcome(await send(call, sending, attemptTrace));
    attemptTrace?.ended(describe(call, outcome));
    if (outcome.type === "failed" && outcome.effect === "unknown") slot?.abandon();
    if (!hasEnded()) {
      const durationMs = Math.round(clock.now() - startedAt);
      const end = { attemptId, endedAtMs: store.now(), durationMs, ...describe(call, outcome) };
      metrics.attempted(call.tool, end.outcome, durationMs);
      pending.ended(call, end);
      if (!call.verify) count(call, { end, outcome });
    }
    ended(call, outcome);
    // By now the result is on its way to MongoDB.
    if (outcome.type === "completed" && !call.verify) noteOutput(call, outcome.output);
  }

  function ended(call: Call, outcome: Outcome): void {
    controllers.delete(call.key);
    onEnded(call, outcome);
  }

  function count(
    { tool: name }: Call,
    { end, outcome }: { end: Omit<AttemptEnd, "key">; outcome: Outcome },
  ): void {
    const isProcessed = outcome.type !== "failed" || outcome.effect !== "none";
    parts.callRecorder?.note({ tenant: plan.tenant, tool: planTools.find(name), end, isProcessed });
  }

  function noteOutput({ tool: name, items }: Call, output: JsonValue): void {
    const tool = planTools.find(name);
    parts.outputs?.note({ tenant: plan.tenant, tool, isItem: items !== undefined, output });
  }

  async function send(
    call: Call,
    { idempotencyKey, signal, slot }: Sending,
    attemptTrace: AttemptTrace | undefined,
  ): Promise<Outcome> {
    if (signal.aborted) return { type: "aborted" };
    const traced = attemptTrace ? attemptTrace.around(tools) : tools;
    if (call.verify) {
      const callTool: ToolClients["callTool"] = (lookup) =>
        traced.callTool({
          ...lookup,
          beforeSend: (offered) =>
            clearances.clear(call, { offered, slot, fill: async () => toSend(lookup) }),
        });
      const { wait } = timers;
      return askLookup({ call, idempotencyKey, planTools, tools: { callTool }, signal, wait });
    }
    const { arguments: args, timeoutMs } = call;
    const address = planTools.addressOf(call.tool);
    const fill = async () => secrets?.fill(call.stepId, { ...address, arguments: args }) ?? toSend(call);
    return traced.callTool({
      ...address,
      arguments: args,
      timeoutMs,
      signal,
      idempotencyKey,
      beforeSend: (offered) => clearances.clear(call, { offered, slot, fill }),
    });
  }

  /**
   * The idempotency key names the unit, not the attempt, so it stays the same over crashes and retries. It
   * names the first plan that sent this call, if no later version got an answer to it.
   */
  function keyOf(call: Call): string {
    const keys = unitKeysOf(call);
    const argsHash = sha256(JSON.stringify(call.arguments));
    const sent = keys.map((key) => claim.journal.unit(key)).find((unit) => unit?.sentKey !== undefined);
    if (sent?.sentKey !== undefined && sent.argsHash === argsHash) return sent.sentKey;
    const earlier = claim.journal.unit(call.stepId)?.unanswered ?? [];
    // A batch is the same call only if it serves the same items, which its arguments show.
    const same = earlier.find((one) => keys.includes(one.key) && one.argsHash === argsHash);
    return `${same?.planId ?? plan._id}/${call.key}`;
  }

  return {
    make,
    abort: (key, reason) => controllers.get(key)?.abort(reason),
    abortAll() {
      for (const controller of controllers.values()) controller.abort();
    },
  };
}

function toSend({ arguments: args }: Pick<Call, "arguments">): Clearance {
  return { type: "send", arguments: args };
}

function describe(
  call: Call,
  outcome: Outcome,
): Pick<AttemptEnd, "outcome" | "error" | "isUnsent" | "effect"> {
  const effect = effectOfCall(call, outcome);
  switch (outcome.type) {
    case "completed":
      return { outcome: "completed", error: null, effect };
    case "failed":
      return {
        outcome: outcome.effect === "unknown" ? "unknown" : "failed",
        error: outcome.error,
        effect,
        isUnsent: isUnreachable(outcome) || isUnansweredLookup(call, outcome),
      };
    case "aborted":
    case "carried":
    case "deferred":
      return { outcome: "aborted", error: null, effect };
  }
}
