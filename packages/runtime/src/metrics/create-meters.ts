import { Counter, Gauge, Histogram, type Registry } from "prom-client";

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
