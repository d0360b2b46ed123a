import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { type Figures, registerSystemMetrics, type SystemMetricsParts } from "./system-metrics.ts";

const FIGURES: Figures = {
  workers: { planner: 1, executor: 2 },
  plans: [
    { status: "RUNNING", reason: null, count: 3 },
    { status: "WAITING", reason: "in doubt", count: 1 },
  ],
  needs: [
    { kind: "approval", count: 0, oldestAgeMs: null },
    { kind: "doubt", count: 1, oldestAgeMs: 61_500 },
  ],
  due: [{ work: "plans", count: 7, oldestAgeMs: 2_000 }],
};

/** Scrapes the series of a registry, without those of histograms. */
function scraping(parts: Partial<SystemMetricsParts>) {
  const registry = new Registry();
  registerSystemMetrics(registry, {
    service: "executor",
    countWaiting: async () => 0,
    readFigures: async () => FIGURES,
    timeoutMs: 20,
    ...parts,
  });
  return async () => (await registry.metrics()).split("\n").filter((line) => /^\w/.test(line));
}

test("the figures of the system are gauges with few labels, ages in seconds", async () => {
  expect(await scraping({ countWaiting: async () => 4 })()).toEqual([
    "planwright_executor_jobs_waiting 4",
    'planwright_workers{kind="planner"} 1',
    'planwright_workers{kind="executor"} 2',
    'planwright_plans{status="RUNNING",reason=""} 3',
    'planwright_plans{status="WAITING",reason="in doubt"} 1',
    'planwright_needs{kind="approval"} 0',
    'planwright_needs{kind="doubt"} 1',
    'planwright_needs_oldest_age_seconds{kind="approval"} 0',
    'planwright_needs_oldest_age_seconds{kind="doubt"} 61.5',
    'planwright_due{work="plans"} 7',
    'planwright_due_oldest_age_seconds{work="plans"} 2',
  ]);
});

test("figures are read at most every 15 s, jobs at each scrape, and both once at a time", async () => {
  let reads = 0;
  let jobs = 0;
  let now = 0;
  const scrape = scraping({
    countWaiting: async () => ++jobs,
    readFigures: async () => ({ ...FIGURES, workers: { executor: ++reads } }),
    now: () => now,
  });
  const seen = async (atMs: number) => {
    now = atMs;
    return (await scrape()).slice(0, 2).map((line) => Number(line.split(" ")[1]));
  };
  expect([await seen(0), await seen(14_999), await seen(15_000), await seen(29_999)]).toEqual([
    [1, 1],
    [2, 1],
    [3, 2],
    [4, 2],
  ]);
});

test.each<[string, NonNullable<SystemMetricsParts["readFigures"]>]>([
  ["another process shows them", async () => null],
  ["a read fails", async () => Promise.reject(new TypeError("away"))],
  ["a read gets no answer", () => new Promise(() => undefined)],
])("figures have no series while %s, also after they had some", async (_, readFigures) => {
  let now = 0;
  const reads = [async () => FIGURES, readFigures];
  const scrape = scraping({ readFigures: () => (reads.shift() ?? readFigures)(), now: () => now });
  expect(await scrape()).toHaveLength(11);
  now = 15_000;
  expect(await scrape()).toEqual(["planwright_executor_jobs_waiting 0"]);
});

test("jobs that cannot be counted have no series", async () => {
  const readFigures = async () => null;
  expect(await scraping({ countWaiting: () => new Promise(() => undefined), readFigures })()).toEqual([]);
});
