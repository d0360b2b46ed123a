import type { RequestId } from "@planwright/plan";
import {
  endSpan,
  REQUEST_ID_ATTRIBUTE,
  type Span,
  type SpanStart,
  type TraceOrigin,
  type Traces,
} from "@planwright/runtime";

/** Log facts and span of one operation. Without traces there is no span. */
export interface Operation {
  /** Its trace context, which is stored with the requests that it creates. */
  readonly origin: TraceOrigin | undefined;
  /**
   * Sets the request of the operation; only the first call counts. The span is linked to the trace of the
   * request.
   */
  about(requestId: RequestId, trace?: TraceOrigin): void;
  /** Starts the span, after all checks of the document. */
  begin(start: SpanStart): void;
  /** @param code - code of the error that ended it */
  ended(code?: string | null): void;
  logFacts(): { requestId?: RequestId; trace_id?: string };
}

/** A new operation. */
export function createOperation(traces: Traces | undefined): Operation {
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
    begin(start) {
      span = traces?.start(start);
    },
    ended(code) {
      if (span) endSpan(span, code);
    },
    logFacts: () => ({ ...(requestId ? { requestId } : {}), ...traces?.logFacts(span) }),
  };
}
