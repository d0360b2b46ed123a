import type { TraceOrigin } from "@planwright/runtime";

/** Where a caller stands in its trace, from its headers or from `_meta`. Undefined without a word of it; what it says is checked later. */
export function incomingTrace(read: (name: keyof TraceOrigin) => unknown): TraceOrigin | undefined {
  const traceparent = read("traceparent");
  const tracestate = read("tracestate");
  if (typeof traceparent !== "string") return undefined;
  return { traceparent, ...(typeof tracestate === "string" ? { tracestate } : {}) };
}
