import { createMeters, type Registry } from "@planwright/runtime";
import type { ToolServerOptions } from "@planwright/tool-kit";

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Registers the metrics of the tools; the result counts a call. */
export function createToolMetrics(registry: Registry): NonNullable<ToolServerOptions["onCall"]> {
  const { counter, histogram } = createMeters(registry, "planwright_blog_tools");
  const calls = counter("calls_total", "Tool calls that were answered", ["tool", "outcome"]);
  const latency = histogram("call_duration_seconds", "Time until tool calls were answered", {
    seconds: SECONDS,
    labelNames: ["tool"],
  });
  return (tool, outcome, durationMs) => {
    calls.inc({ tool, outcome });
    latency.observe({ tool }, durationMs / 1_000);
  };
}
