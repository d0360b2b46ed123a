import { Gauge, type Registry } from "prom-client";

/** A number of documents, and the age of the oldest; null when there is none, or it is not known. */
interface Waiting {
  count: number;
  oldestAgeMs: number | null;
}

/** Figures of the whole system, as `SystemFigures` of `@planwright/store`. */
export interface Figures {
  workers: Readonly<Record<string, number>>;
  plans: readonly { status: string; reason: string | null; count: number }[];
  needs: readonly ({ kind: string } & Waiting)[];
  due: readonly ({ work: string } & Waiting)[];
}

/** The reads for the metrics of the whole system. */
export interface SystemMetricsParts {
  /** The service that takes the jobs, such as "executor": part of a metric name. */
  service: string;
  /** Number of jobs in Redis that no process of the service has taken. */
  countWaiting: () => Promise<number>;
  /**
   * Reads the figures; null while another process reads them. Absent in a role of a process in which another role
   * shows them.
   */
  readFigures?: (() => Promise<Figures | null>) | undefined;
  /** How long a scrape waits for an answer, in milliseconds. Default 1,000. */
  timeoutMs?: number | undefined;
  /** Milliseconds of a monotonic clock. Default: `performance.now`. */
  now?: (() => number) | undefined;
}

/** Figures are read at most once in this time, in milliseconds, however often they are scraped. */
const READ_EVERY_MS = 15_000;

/**
 * Registers `planwright_{service}_jobs_waiting`, which every process shows, and the figures of the whole
 * system, which one process shows: `planwright_workers`, `planwright_plans`, `planwright_needs`,
 * `planwright_needs_oldest_age_seconds`, `planwright_due` and `planwright_due_oldest_age_seconds`. A metric has
 * no series while its value is not known, so a scrape neither fails nor waits.
 */
export function registerSystemMetrics(registry: Registry, parts: SystemMetricsParts): void {
  const { service, timeoutMs = 1_000, now = () => performance.now() } = parts;
  const countWaiting = askInTime(parts.countWaiting, timeoutMs);
  const registers = [registry];

  /** A gauge of which each scrape sets all series. */
  function register<Label extends string>(
    name: string,
    { help, labelNames }: { help: string; labelNames: Label[] },
    set: (gauge: Gauge<Label>) => Promise<void>,
  ): void {
    new Gauge({
      registers,
      name,
      help,
      labelNames,
      async collect() {
        this.reset();
        await set(this);
      },
    });
  }

  register(
    `planwright_${service}_jobs_waiting`,
    { help: `Jobs in Redis that no ${service} has taken`, labelNames: [] },
    async (gauge) => {
      const jobs = await countWaiting();
      if (jobs === undefined) gauge.remove();
      else gauge.set(jobs);
    },
  );
  if (!parts.readFigures) return;
  const readFigures = askInTime(every(READ_EVERY_MS, parts.readFigures, now), timeoutMs);
  register(
    "planwright_workers",
    { help: "Live workers that take work", labelNames: ["kind"] },
    async (gauge) => {
      const { workers = {} } = (await readFigures()) ?? {};
      for (const [kind, count] of Object.entries(workers)) gauge.set({ kind }, count);
    },
  );
  register(
    "planwright_plans",
    {
      help: "Plans in MongoDB that have not ended, by status and by the reason for which they wait",
      labelNames: ["status", "reason"],
    },
    async (gauge) => {
      for (const { status, reason, count } of (await readFigures())?.plans ?? [])
        gauge.set({ status, reason: reason ?? "" }, count);
    },
  );
  registerWaiting("planwright_needs", "kind", {
    help: "Plans and requests that need a person: an approval, the decision of a doubt, an answer",
    of: (figures) => figures.needs.map(({ kind, ...waiting }) => [kind, waiting]),
  });
  registerWaiting("planwright_due", "work", {
    help: "Plans and requests in MongoDB that are due and that no worker holds",
    of: (figures) => figures.due.map(({ work, ...waiting }) => [work, waiting]),
  });

  /** The number and the age of the oldest; 0 when there is none. */
  function registerWaiting(
    name: string,
    label: "kind" | "work",
    { help, of }: { help: string; of: (figures: Figures) => [string, Waiting][] },
  ): void {
    const read = async (): Promise<[string, Waiting][]> => {
      const figures = await readFigures();
      return figures ? of(figures) : [];
    };
    register(name, { help, labelNames: [label] }, async (gauge) => {
      for (const [value, { count }] of await read()) gauge.set({ [label]: value }, count);
    });
    register(
      `${name}_oldest_age_seconds`,
      { help: `Age of the oldest of ${name}; 0: there is none`, labelNames: [label] },
      async (gauge) => {
        for (const [value, { oldestAgeMs }] of await read())
          gauge.set({ [label]: value }, (oldestAgeMs ?? 0) / 1_000);
      },
    );
  }
}

/** Reads again only when the last successful reading is older than `everyMs`. */
function every<Value>(everyMs: number, read: () => Promise<Value>, now: () => number): () => Promise<Value> {
  let last: { at: number; value: Value } | undefined;
  return async () => {
    const at = now();
    if (last && at - last.at < everyMs) return last.value;
    last = undefined;
    const value = await read();
    last = { at, value };
    return value;
  };
}

/** Returns a function that reads once at a time; undefined for a read that fails or takes too long. */
function askInTime<Value>(read: () => Promise<Value>, timeoutMs: number): () => Promise<Value | undefined> {
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
