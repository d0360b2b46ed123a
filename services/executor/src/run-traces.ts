import type { Call } from "@planwright/engine";
import { type Attributes, endSpan, type Span, SpanKind, type Traces } from "@planwright/runtime";
import type { AttemptEnd, PlanClaim } from "@planwright/store";
import type { ToolClients } from "@planwright/tools";

/**
 * Makes the spans of the plans that this process executes. Absent when tracing is not configured; then no
 * span is made for a step.
 */
export interface RunTraces {
  /**
   * A plan was claimed.
   * @param queuedMs - time since the plan was queued; undefined when the plan was started earlier
   */
  claimed(claim: PlanClaim, queuedMs: number | undefined): PlanTrace;
}

/** One claim of a plan. */
export interface PlanTrace {
  /** Facts for the log lines about this claim. */
  readonly logFacts: { trace_id?: string };
  /** A tool call begins, or a look-up of one. @param server - of the tool; undefined: it is not known */
  attempt(call: Call, server: string | undefined): AttemptTrace;
  /**
   * The work on the plan ended in this process. Only the first call counts.
   * @param how - a status, or why the plan was released or abandoned
   */
  ended(how: string, code?: string | null): void;
}

/** One attempt of a step. */
export interface AttemptTrace {
  /**
   * The same tools, with a span for each call. The server gets the span in `_meta`, as `traceparent` and
   * `tracestate`.
   */
  around(tools: Pick<ToolClients, "callTool">): Pick<ToolClients, "callTool">;
  ended(end: Pick<AttemptEnd, "outcome" | "error">): void;
}

/** Spans of this process's plans. Each span belongs to the trace in which its request was accepted. */
export function createRunTraces(traces: Traces): RunTraces {
  return {
    claimed({ plan, epoch }, queuedMs) {
      const { requestId } = plan;
      const span = traces.start({
        name: "execute plan",
        kind: SpanKind.CONSUMER,
        parent: plan.trace,
        requestId,
        attributes: {
          "planwright.plan_id": plan._id,
          "planwright.plan_version": plan.version,
          "planwright.epoch": epoch,
          ...(queuedMs === undefined ? {} : { "planwright.queued_ms": queuedMs }),
        },
      });
      let hasEnded = false;
      return {
        logFacts: traces.logFacts(span),
        attempt: (call, server) => startAttempt(traces, span, { requestId, planId: plan._id, call, server }),
        ended(how, code) {
          if (hasEnded) return;
          hasEnded = true;
          span.setAttribute("planwright.outcome", how);
          endSpan(span, code);
        },
      };
    },
  };
}

function startAttempt(
  traces: Traces,
  parent: Span,
  {
    requestId,
    planId,
    call,
    server,
  }: { requestId: string; planId: string; call: Call; server: string | undefined },
): AttemptTrace {
  const about: Attributes = {
    "planwright.plan_id": planId,
    "planwright.step_id": call.stepId,
    "planwright.attempt": call.attempt,
  };
  const span = traces.start({
    name: call.verify ? "verify attempt" : "attempt",
    parent,
    requestId,
    attributes: {
      ...about,
      ...serverOf(server),
      "planwright.unit": call.key,
      "gen_ai.tool.name": call.tool,
    },
  });
  return {
    around: (tools) => ({
      async callTool(toolCall) {
        const { tool } = toolCall;
        const calling = traces.start({
          name: `tools/call ${tool}`,
          kind: SpanKind.CLIENT,
          parent: span,
          requestId,
          attributes: {
            ...about,
            ...serverOf(toolCall.server),
            "mcp.method.name": "tools/call",
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": tool,
          },
        });
        const origin = traces.originOf(calling);
        const outcome = await tools.callTool({ ...toolCall, meta: { ...toolCall.meta, ...origin } });
        endSpan(calling, outcome.type === "failed" ? outcome.error.code : null);
        return outcome;
      },
    }),
    ended({ outcome, error }) {
      span.setAttribute("planwright.outcome", outcome ?? "unknown");
      endSpan(span, error?.code);
    },
  };
}

/** The name of a tool server in the servers file. */
function serverOf(server: string | undefined): Attributes {
  return server === undefined ? {} : { "planwright.tool_server": server };
}
