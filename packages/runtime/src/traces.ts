import { type Attributes, type Span, SpanKind, SpanStatusCode } from "@opentelemetry/api";
import type { Logger } from "./create-logger.ts";

export { type Attributes, type Span, SpanKind };

/**
 * The position of a span in a trace (W3C Trace Context). It is stored or sent with the work, so that other
 * processes continue the trace.
 */
export interface TraceOrigin {
  traceparent: string;
  tracestate?: string;
}

/**
 * A span that begins. It contains names, ids and codes only: never arguments, outputs, prompts or other
 * values of users.
 */
export interface SpanStart {
  /** One of a small set of names. */
  name: string;
  /** Default INTERNAL. */
  kind?: SpanKind | undefined;
  /** Without a parent, or with an invalid one, the span begins a trace. */
  parent?: Span | TraceOrigin | undefined;
  /** Becomes the attribute `planwright.request_id`. */
  requestId?: string | undefined;
  attributes?: Attributes | undefined;
}

/** Makes the spans of one process. No method waits or throws. */
export interface Traces {
  start(span: SpanStart): Span;
  /**
   * The position at which other processes continue the trace; undefined for a span that cannot be continued.
   */
  originOf(span: Span): TraceOrigin | undefined;
  /** Links a span to another trace; does nothing when both are in the same trace, or `to` is undefined. */
  link(span: Span, to: TraceOrigin | undefined): void;
  /** For log lines: `trace_id`, or nothing without a trace. */
  logFacts(of: Span | TraceOrigin | undefined): { trace_id?: string };
}

/** Attribute that names the request of a span. */
export const REQUEST_ID_ATTRIBUTE = "planwright.request_id";

/** The form of our codes. Any other text could contain values of users and is not exported. */
const CODE = /^[A-Z][A-Z0-9_]{0,63}$/;

/**
 * Ends a span. A code marks it as an error: the code becomes the status and `error.type`; nothing else is
 * exported.
 */
export function endSpan(span: Span, code?: string | null): void {
  if (code !== undefined && code !== null) {
    const exported = CODE.test(code) ? code : "_OTHER";
    span.setAttribute("error.type", exported);
    span.setStatus({ code: SpanStatusCode.ERROR, message: exported });
  }
  span.end();
}

/** Options of `startTracing`. */
export interface StartTracingOptions {
  /** Name of the service, unless `OTEL_SERVICE_NAME` or `OTEL_RESOURCE_ATTRIBUTES` gives another one. */
  service: string;
  /** Names the process: `service.instance.id` of its spans. */
  instance: string;
  /** Decides whether there are traces. OpenTelemetry reads its other variables from `process.env` itself. */
  env: Readonly<Record<string, string | undefined>>;
  logger: Pick<Logger, "warn">;
}

/** The traces of a process. */
export interface Tracing {
  /** Undefined while tracing is not configured; then nothing is loaded and no span is made. */
  readonly traces: Traces | undefined;
  /** Sends the remaining spans, for at most `timeoutMs` (default 2,000), and stops. Never rejects. */
  stop(timeoutMs?: number): Promise<void>;
}
