import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

export { Counter, Gauge, Histogram, type Registry };

/**
 * A registry for one process, with the default metrics of Node (memory, event loop, garbage collection).
 * Metrics of a service are made with `registers: [registry]`. @param service - becomes the label `service`
 */
export function createMetrics(service?: string): Registry {
  const registry = new Registry();
  if (service !== undefined) registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  return registry;
}
