import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { VERSION } from "../version.ts";

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
