import { createBoundedLabel, createMeters, type Registry } from "@planwright/runtime";
import type { ModelMetrics } from "./calls/model-metrics.ts";
import type { PlanningMetrics } from "./jobs/run-metrics.ts";

/** The counters of a planner. */
interface PlannerMetrics {
  runs: PlanningMetrics;
  models: ModelMetrics;
}

/** From the offline drafter, which takes almost no time, to models with long reasoning. */
const SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300];
/** There are few models and error codes; a bound is still needed, because both come from outside. */
const MAX_VALUES = 100;

/** Registers the counters of a planner. */
export function createPlannerMetrics(registry: Registry): PlannerMetrics {
  const { counter, histogram } = createMeters(registry, "planwright_planner");
  const runs = counter("runs_total", "Work on requests that ended", ["outcome", "code"]);
  const runLatency = histogram("run_duration_seconds", "Duration of work on requests", {
    seconds: SECONDS,
    labelNames: ["outcome"],
  });
  const calls = counter("model_calls_total", "Model calls that ended", ["model", "outcome"]);
  const tokens = counter("model_tokens_total", "Tokens as providers counted them", ["model", "direction"]);
  const cost = counter("model_cost_usd_total", "Cost of calls of models with a known price", ["model"]);
  const callLatency = histogram("model_call_duration_seconds", "Duration of model calls", {
    seconds: SECONDS,
    labelNames: ["model"],
  });
  const repairs = counter("repairs_total", "Drafts that had to be repaired");
  const modelLabel = createBoundedLabel(MAX_VALUES);
  const codeLabel = createBoundedLabel(MAX_VALUES);

  return {
    runs: {
      ended(result, durationMs) {
        if (result.type === "skipped") return;
        const outcome = result.type;
        const code =
          result.type === "failed"
            ? result.code
            : result.type === "postponed"
              ? result.error.code
              : undefined;
        runs.inc({ outcome, code: code === undefined ? "" : codeLabel(code) });
        runLatency.observe({ outcome }, durationMs / 1_000);
      },
      broke: () => runs.inc({ outcome: "broken", code: "" }),
    },
    models: {
      called(name, end) {
        const model = modelLabel(name);
        calls.inc({ model, outcome: end.error ? codeLabel(end.error.code) : "answered" });
        tokens.inc({ model, direction: "input" }, end.inputTokens ?? 0);
        tokens.inc({ model, direction: "output" }, end.outputTokens ?? 0);
        cost.inc({ model }, end.costUsd ?? 0);
        callLatency.observe({ model }, end.latencyMs / 1_000);
      },
      repaired: () => repairs.inc(),
    },
  };
}
