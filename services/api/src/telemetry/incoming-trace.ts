import type { TraceOrigin } from "@planwright/runtime";

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
