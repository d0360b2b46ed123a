import type { RequestId } from "@planwright/plan";
import {
  endSpan,
  REQUEST_ID_ATTRIBUTE,
  type Span,
  type SpanStart,
  type TraceOrigin,
  type Traces,
} from "@planwright/runtime";
import type { ApiMetrics } from "./api-metrics.ts";

/** Log facts, span and count of one operation. Without traces there is no span. */
export interface Operation {
  /** Its trace context, which is stored with the requests that it creates. */
  readonly origin: TraceOrigin | undefined;
  /**
   * Sets the request of the operation; only the first call counts. The span is linked to the trace of the
   * request.
   */
  about(requestId: RequestId, trace?: TraceOrigin): void;
  /**
   * Starts the span of a valid operation.
   * @param name - by which it is counted: a field of the schema, or one of a few fixed names. Without a call it
   * is "invalid".
   */
  begin(name: string, start: SpanStart): void;
  /** Ends the span and counts the operation; only the first call counts. @param code - of its error */
  ended(code?: string | null): void;
  logFacts(): { requestId?: RequestId; trace_id?: string };
}

/**
 * A new operation.
 * @param answered - counts it, with the code of its end and its duration
 */
export function createOperation(traces: Traces | undefined, answered: ApiMetrics["answered"]): Operation {
  const startedAt = performance.now();
  let name = "invalid";
  let hasEnded = false;
  let requestId: RequestId | undefined;
  let span: Span | undefined;
  let linked: string | undefined;
  return {
    get origin() {
      return span && traces?.originOf(span);
    },
    about(id, trace) {
      requestId ??= id;
      span?.setAttribute(REQUEST_ID_ATTRIBUTE, requestId);
      if (!span || !trace || trace.traceparent === linked) return;
      linked = trace.traceparent;
      traces?.link(span, trace);
    },
    begin(named, start) {
      name = named;
      span = traces?.start(start);
    },
    ended(code) {
      if (hasEnded) return;
      hasEnded = true;
      if (span) endSpan(span, code);
      answered(name, code ?? "OK", performance.now() - startedAt);
    },
    logFacts: () => ({ ...(requestId ? { requestId } : {}), ...traces?.logFacts(span) }),
  };
}

/**
 * The trace context of a caller, from its headers or from `_meta`; undefined without one. Its values are
 * checked later.
 */
export function incomingTrace(read: (name: keyof TraceOrigin) => unknown): TraceOrigin | undefined {
  const traceparent = read("traceparent");
  const tracestate = read("tracestate");
  if (typeof traceparent !== "string") return undefined;
  return { traceparent, ...(typeof tracestate === "string" ? { tracestate } : {}) };
}
