import { Gauge, type Registry } from "prom-client";

/** What gauges have in common whose values are read at each scrape. */
interface ReadOptions<Value> {
  registers: Registry[];
  name: string;
  help: string;
  /** Asks for the value; questions never overlap. */
  read: () => Promise<Value>;
  /** Longest that a scrape waits for it, in milliseconds; default 1,000. */
  timeoutMs?: number | undefined;
}

/** A gauge whose value is read at each scrape. */
export type ReadGaugeOptions = ReadOptions<number>;

/** A gauge with a label whose values are read, all at once, at each scrape. */
export interface LabelledReadGaugeOptions extends ReadOptions<ReadonlyMap<string, number>> {
  label: string;
  /** What the label may say: each is a series, whatever is read. */
  labelValues: readonly string[];
}

/** Makes such a gauge. It is NaN while there is no answer in time: a scrape neither fails nor waits for what is away. */
export function createReadGauge({ read, timeoutMs, ...settings }: ReadGaugeOptions): void {
  const ask = askInTime(read, timeoutMs);
  new Gauge({
    ...settings,
    async collect() {
      this.set((await ask()) ?? Number.NaN);
    },
  });
}

/** Makes such a gauge. All its series are NaN while there is no answer in time; what an answer does not name is 0. */
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

/** Asks once at a time; undefined for what fails or takes too long. */
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
    const patience = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), timeoutMs);
    });
    return Promise.race([ask(), patience]).finally(() => clearTimeout(timer));
  };
}
