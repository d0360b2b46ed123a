import { Counter, Gauge, Histogram, type Registry } from "@planwright/runtime";

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
export type Refusal = "mutations" | "queries" | "plans" | "subscriptions" | "bytes";

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Values that are read when metrics are collected. */
export interface Gauges {
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
