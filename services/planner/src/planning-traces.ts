import { definitionOf } from "@planwright/models";
import { endSpan, type Span, SpanKind, type Traces } from "@planwright/runtime";
import type { ModelCallBegin, ModelCallEnd, PlanningClaim, PlanningStore } from "@planwright/store";
import type { ClaimTraces } from "./jobs/plan-request.ts";

/** Makes the spans of requests that this process plans. Absent when tracing is not configured. */
interface PlanningTraces extends ClaimTraces {
  /** A model call begins, for a claim that has not ended. */
  calling(claim: PlanningClaim, call: ModelCallBegin): { ended(end: ModelCallEnd): void };
  /** Facts for the log lines about a request. */
  logFacts(request: PlanningClaim["request"]): { trace_id?: string };
}

/** Finish reasons are short; a longer text is not a finish reason. */
const MAX_FINISH_REASON = 40;

/** Spans of this process's requests. Each span belongs to the trace in which its request was accepted. */
export function createPlanningTraces(traces: Traces): PlanningTraces {
  const spans = new WeakMap<PlanningClaim, Span>();

  return {
    logFacts: ({ trace }) => traces.logFacts(trace),

    claimed(claim) {
      const { request, epoch } = claim;
      const work = request.planning.work ?? "plan";
      const span = traces.start({
        name: `${work} request`,
        kind: SpanKind.CONSUMER,
        parent: request.trace,
        requestId: request._id,
        attributes: {
          "planwright.work": work,
          "planwright.epoch": epoch,
          "planwright.plan_id": request.planId,
        },
      });
      spans.set(claim, span);
      return {
        ended(result) {
          span.setAttribute("planwright.outcome", result.type);
          if (result.type === "planned") {
            span.setAttribute("planwright.plan_id", result.plan._id);
            span.setAttribute("planwright.steps", result.plan.plan?.steps.length ?? 0);
          }
          endSpan(span, result.type === "failed" ? result.code : null);
        },
        broke(code) {
          span.setAttribute("planwright.outcome", "broken off");
          endSpan(span, code);
        },
      };
    },

    calling(claim, { model: name, purpose, attempt }) {
      const separator = name.indexOf(":");
      const provider = name.slice(0, Math.max(separator, 0));
      const model = name.slice(separator + 1);
      const span = traces.start({
        name: `chat ${model}`,
        kind: SpanKind.CLIENT,
        parent: spans.get(claim) ?? claim.request.trace,
        requestId: claim.request._id,
        attributes: {
          "gen_ai.operation.name": "chat",
          "gen_ai.provider.name": definitionOf(name)?.traceName ?? provider,
          "gen_ai.request.model": model,
          "planwright.purpose": purpose,
          "planwright.attempt": attempt,
        },
      });
      return {
        ended({ inputTokens, outputTokens, finishReason, error }) {
          if (inputTokens !== null) span.setAttribute("gen_ai.usage.input_tokens", inputTokens);
          if (outputTokens !== null) span.setAttribute("gen_ai.usage.output_tokens", outputTokens);
          if (finishReason !== null) {
            const reason = finishReason.length <= MAX_FINISH_REASON ? finishReason : "other";
            span.setAttribute("gen_ai.response.finish_reasons", [reason]);
          }
          endSpan(span, error?.code);
        },
      };
    },
  };
}

type CallStore = Pick<PlanningStore, "beginModelCall" | "endModelCall">;

/** The same store, with a span for each model call that begins. Without traces it is the given store. */
export function traceModelCalls<Store extends CallStore>(
  store: Store,
  traces: PlanningTraces | undefined,
): Store {
  if (!traces) return store;
  const openSpans = new Map<string, ReturnType<PlanningTraces["calling"]>>();
  const traced: CallStore = {
    async beginModelCall(claim, call) {
      const begun = await store.beginModelCall(claim, call);
      if (begun.type === "open") openSpans.set(begun.callId, traces.calling(claim, call));
      return begun;
    },
    endModelCall(callId, end) {
      openSpans.get(callId)?.ended(end);
      openSpans.delete(callId);
      return store.endModelCall(callId, end);
    },
  };
  return { ...store, ...traced };
}
