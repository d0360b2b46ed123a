import type { RequestId } from "@planwright/plan";
import {
  Counter,
  endSpan,
  Gauge,
  Histogram,
  REQUEST_ID_ATTRIBUTE,
  type Registry,
  type Span,
  type SpanStart,
  type TraceOrigin,
  type Traces,
} from "@planwright/runtime";

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

/** The part of a pino logger that the service uses. */
export interface ApiLogger {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

/** Keyed by identity: the layers between an error and its log line pass only the error. */
const factsOf = new WeakMap<object, object>();

/** Stores facts for the log line of an error. */
export function noteLogFacts(error: unknown, facts: object): void {
  if (typeof error === "object" && error !== null) factsOf.set(error, facts);
}

/** The stored facts of an error; empty for an unknown one. */
export function logFactsOf(error: unknown): object {
  return (typeof error === "object" && error !== null && factsOf.get(error)) || {};
}

/** Counts the operations of the service. Never waits and never throws. */
export interface ApiMetrics {
  /**
   * @param operation - a field of the schema, or one of a few fixed names
   * @param code - "OK", or a code of `API_ERROR_CODES`
   */
  answered: (operation: string, code: string, durationMs: number) => void;
  /**
   * Counts a subscription that ended or was refused, without a duration: that would be the time for which the
   * client followed.
   */
  subscriptionEnded: (operation: string, code: string) => void;
  /** Counts a refusal because of the caller's credential. @param code - of `API_ERROR_CODES` */
  denied(code: string): void;
  /** Counts a refusal because of overload. */
  refused(reason: Refusal): void;
}

/** The limit that was reached. */
type Refusal = "mutations" | "queries" | "plans" | "subscriptions" | "bytes";

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Values that are read when metrics are collected. */
interface Gauges {
  /** Number of open subscriptions. */
  subscriptions: () => number;
  /** Bytes that large answers hold now. */
  largeAnswersBytes: () => number;
}

/** Registers the counters of the service. */
export function createApiMetrics(registry: Registry, gauges: Gauges): ApiMetrics {
  const registers = [registry];
  const requests = new Counter({
    registers,
    name: "planwright_api_requests_total",
    help: "Operations answered: GraphQL, subscriptions that ended, calls of MCP tools",
    labelNames: ["operation", "code"],
  });
  const latency = new Histogram({
    registers,
    name: "planwright_api_request_duration_seconds",
    help: "Duration of the answers",
    labelNames: ["operation"],
    buckets: SECONDS,
  });
  const overloaded = new Counter({
    registers,
    name: "planwright_api_overloaded_total",
    help: "Operations refused because of overload",
    labelNames: ["reason"],
  });
  const denials = new Counter({
    registers,
    name: "planwright_api_denied_total",
    help: "Operations refused because of their credential or its rate limit",
    labelNames: ["code"],
  });
  new Gauge({
    registers,
    name: "planwright_api_subscriptions_open",
    help: "Requests and lists that clients follow now",
    collect() {
      this.set(gauges.subscriptions());
    },
  });
  new Gauge({
    registers,
    name: "planwright_api_large_answers_bytes",
    help: "Bytes that large answers hold now, of LARGE_ANSWERS_BYTES",
    collect() {
      this.set(gauges.largeAnswersBytes());
    },
  });
  return {
    answered(operation, code, durationMs) {
      requests.inc({ operation, code });
      latency.observe({ operation }, durationMs / 1_000);
    },
    subscriptionEnded: (operation, code) => requests.inc({ operation, code }),
    denied: (code) => denials.inc({ code }),
    refused: (reason) => overloaded.inc({ reason }),
  };
}
