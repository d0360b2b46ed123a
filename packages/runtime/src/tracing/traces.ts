import { type Attributes, type Span, SpanKind, SpanStatusCode } from "@opentelemetry/api";

export { type Attributes, type Span, SpanKind };

/** A span by its place in a trace (W3C Trace Context): what is kept, or sent along, so that others go on with the trace. */
export interface TraceOrigin {
  traceparent: string;
  tracestate?: string;
}

/** A span that begins. Names, ids and codes only: never arguments, outputs, prompts or other values of users. */
export interface SpanStart {
  /** Of few different values. */
  name: string;
  /** Default INTERNAL. */
  kind?: SpanKind | undefined;
  /** Without one, or with one that cannot be read, the span begins a trace. */
  parent?: Span | TraceOrigin | undefined;
  /** Becomes the attribute `planwright.request_id`. */
  requestId?: string | undefined;
  attributes?: Attributes | undefined;
}

/** Makes the spans of one process. Nothing here waits or throws. */
export interface Traces {
  start(span: SpanStart): Span;
  /** Where others go on; undefined for a span that cannot be continued. */
  originOf(span: Span): TraceOrigin | undefined;
  /** Points from a span at another trace; nothing when it is the same one, or there is none. */
  link(span: Span, to: TraceOrigin | undefined): void;
  /** For log lines: `trace_id`, or nothing. */
  logFacts(of: Span | TraceOrigin | undefined): { trace_id?: string };
}

/** Attribute that names the request of a span. */
export const REQUEST_ID_ATTRIBUTE = "planwright.request_id";

/** Codes are ours, and few; whatever else comes in their place is not passed on. */
const CODE = /^[A-Z][A-Z0-9_]{0,63}$/;

/** Ends a span. A code makes it an error: it is the status and `error.type`, and nothing else is told. */
export function endSpan(span: Span, code?: string | null): void {
  if (code !== undefined && code !== null) {
    const told = CODE.test(code) ? code : "_OTHER";
    span.setAttribute("error.type", told);
    span.setStatus({ code: SpanStatusCode.ERROR, message: told });
  }
  span.end();
}
