import { Gauge, type Registry } from "prom-client";

/** A gauge whose value is asked for when somebody scrapes. */
export interface ReadGaugeOptions {
  registers: Registry[];
  name: string;
  help: string;
  /** Asks for the value; questions never overlap. */
  read: () => Promise<number>;
  /** Longest that a scrape waits for it, in milliseconds; default 1,000. */
  timeoutMs?: number | undefined;
}

/** Makes such a gauge. It is NaN while there is no answer in time: a scrape neither fails nor waits for what is away. */
export function createReadGauge({ read, timeoutMs = 1_000, ...settings }: ReadGaugeOptions): void {
  let asking: Promise<number> | undefined;
  const ask = (): Promise<number> => {
    asking ??= Promise.resolve()
      .then(read)
      .catch(() => Number.NaN)
      .finally(() => {
        asking = undefined;
      });
    return asking;
  };
  new Gauge({
    ...settings,
    async collect() {
      let timer: NodeJS.Timeout | undefined;
      const patience = new Promise<number>((resolve) => {
        timer = setTimeout(() => resolve(Number.NaN), timeoutMs);
      });
      this.set(await Promise.race([ask(), patience]).finally(() => clearTimeout(timer)));
    },
  });
}
