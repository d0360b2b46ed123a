import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { VERSION } from "./version.ts";

export { Counter, Gauge, Histogram, type Registry };

/**
 * A registry for one process, with the default metrics of Node (memory, event loop, garbage collection) and
 * `planwright_build_info`: always 1, its labels say which version runs.
 * Metrics of a service are made with `registers: [registry]`. @param service - becomes the label `service`
 */
export function createMetrics(service?: string): Registry {
  const registry = new Registry();
  if (service !== undefined) registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  new Gauge({
    registers: [registry],
    name: "planwright_build_info",
    help: "Always 1; the labels say which version runs",
    labelNames: ["version", "node_version"],
  }).set({ version: VERSION, node_version: process.versions.node }, 1);
  return registry;
}

/** Makes metrics whose names begin with one prefix. */
export interface Meters {
  readonly counter: <Label extends string = never>(
    name: string,
    help: string,
    labelNames?: Label[],
  ) => Counter<Label>;
  readonly gauge: (name: string, help: string) => Gauge;
  /** `seconds`: the upper bounds of the buckets. */
  readonly histogram: <Label extends string = never>(
    name: string,
    help: string,
    options: { seconds: number[]; labelNames?: Label[] },
  ) => Histogram<Label>;
}

/** Meters of one registry. @param prefix - such as "planwright_executor" */
export function createMeters(registry: Registry, prefix: string): Meters {
  const registers = [registry];
  return {
    counter: (name, help, labelNames = []) =>
      new Counter({ registers, name: `${prefix}_${name}`, help, labelNames }),
    gauge: (name, help) => new Gauge({ registers, name: `${prefix}_${name}`, help }),
    histogram: (name, help, { seconds, labelNames = [] }) =>
      new Histogram({ registers, name: `${prefix}_${name}`, help, labelNames, buckets: seconds }),
  };
}

/** Counts appends to journals by their outcome, as `JournalMetrics` of `@planwright/store`. */
export interface JournalCounters {
  appendEnded(outcome: "appended" | "taken" | "failed", durationMs: number): void;
  bulkWritten(entries: number): void;
}

/**
 * Bounds of buckets: from a write to a fast disk to appends that are retried while MongoDB cannot be reached.
 */
const APPEND_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * Registers the metrics of journal appends. The names are the same in every service; the label `service`
 * differs.
 */
export function createJournalMetrics(registry: Registry): JournalCounters {
  const { counter, histogram } = createMeters(registry, "planwright_journal");
  const entries = counter("entries_total", "Entries appended to journals, and durable");
  const bulks = counter("bulks_total", "Bulks of entries that MongoDB answered");
  const refused = counter("refused_total", "Appends refused because another entry had their sequence number");
  const failed = counter("failed_total", "Appends that could not be written, or whose result is unknown");
  const latency = histogram(
    "append_duration_seconds",
    "Duration of appends, appended or refused, including the wait for their bulk",
    { seconds: APPEND_SECONDS },
  );
  return {
    appendEnded(outcome, durationMs) {
      if (outcome === "failed") {
        failed.inc();
        return;
      }
      (outcome === "appended" ? entries : refused).inc();
      latency.observe(durationMs / 1_000);
    },
    bulkWritten: () => bulks.inc(),
  };
}

/** Replaces values beyond the bound. */
export const OTHER = "other";

/**
 * Bounds the number of values of a metric's label, for names that come from outside: the first `max` distinct
 * values are kept, all others become "other". @param max - default 200
 */
export function createBoundedLabel(max = 200): (value: string) => string {
  const known = new Set<string>();
  return (value) => {
    if (known.has(value)) return value;
    if (known.size >= max) return OTHER;
    known.add(value);
    return value;
  };
}
