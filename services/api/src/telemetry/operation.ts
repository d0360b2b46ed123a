import type { RequestId } from "@planwright/plan";
import {
  endSpan,
  REQUEST_ID_ATTRIBUTE,
  type Span,
  type SpanStart,
  type TraceOrigin,
  type Traces,
} from "@planwright/runtime";

/** What the log lines and the span of one operation say. Made anew for each one; without traces there is no span. */
export interface Operation {
  /** Where it stands in its trace: kept with the requests that it makes. */
  readonly origin: TraceOrigin | undefined;
  /** Names the request that it is about; of several the first one. Its trace, once known, is linked to. */
  about(requestId: RequestId, trace?: TraceOrigin): void;
  /** It passed all that could refuse its document. */
  begin(start: SpanStart): void;
  /** @param code - of the error with which it ended */
  ended(code?: string | null): void;
  logFacts(): { requestId?: RequestId; trace_id?: string };
}

/** An operation that begins. */
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
