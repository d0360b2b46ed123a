import { Gauge, type Registry } from "prom-client";

/** Common options of gauges that are read at each scrape. */
interface ReadOptions<Value> {
  registers: Registry[];
  name: string;
  help: string;
  /** Reads the value; reads never overlap. */
  read: () => Promise<Value>;
  /** How long a scrape waits for the value, in milliseconds; default 1,000. */
  timeoutMs?: number | undefined;
}

/** A gauge whose value is read at each scrape. */
export type ReadGaugeOptions = ReadOptions<number>;

/** A gauge with a label. The values of all labels are read at once, at each scrape. */
export interface LabelledReadGaugeOptions extends ReadOptions<ReadonlyMap<string, number>> {
  label: string;
  /** The possible values of the label; each is a series, also when it was not read. */
  labelValues: readonly string[];
}

/**
 * Makes a gauge that is read at each scrape. It is NaN while no answer comes in time, so a scrape neither
 * fails nor waits.
 */
export function createReadGauge({ read, timeoutMs, ...settings }: ReadGaugeOptions): void {
  const ask = askInTime(read, timeoutMs);
  new Gauge({
    ...settings,
    async collect() {
      this.set((await ask()) ?? Number.NaN);
    },
  });
}

/**
 * Makes a labelled gauge. All its series are NaN while no answer comes in time; a value that is missing in
 * the answer is 0.
 */
export function createLabelledReadGauge(options: LabelledReadGaugeOptions): void {
  const { read, timeoutMs, label, labelValues, ...settings } = options;
  const ask = askInTime(read, timeoutMs);
  new Gauge({
    ...settings,
    labelNames: [label],
    async collect() {
      const counts = await ask();
      for (const value of labelValues) {
        this.set({ [label]: value }, counts ? (counts.get(value) ?? 0) : Number.NaN);
      }
    },
  });
}

/** Returns a function that reads once at a time; undefined for a read that fails or takes too long. */
function askInTime<Value>(read: () => Promise<Value>, timeoutMs = 1_000): () => Promise<Value | undefined> {
  let asking: Promise<Value | undefined> | undefined;
  const ask = (): Promise<Value | undefined> => {
    asking ??= Promise.resolve()
      .then(read)
      .catch(() => undefined)
      .finally(() => {
        asking = undefined;
      });
    return asking;
  };
  return async () => {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), timeoutMs);
    });
    return Promise.race([ask(), timeout]).finally(() => clearTimeout(timer));
  };
}
