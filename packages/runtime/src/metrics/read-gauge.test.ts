import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { createLabelledReadGauge, createReadGauge } from "./read-gauge.ts";

const gauge = (read: () => Promise<number>): (() => Promise<string | undefined>) => {
  const registry = new Registry();
  createReadGauge({ registers: [registry], name: "depth", help: "How deep", read, timeoutMs: 20 });
  return async () => /^depth (.*)$/m.exec(await registry.metrics())?.[1];
};

test("each scrape reads again", async () => {
  let depth = 0;
  const scrape = gauge(async () => ++depth);
  expect([await scrape(), await scrape()]).toEqual(["1", "2"]);
});

test("a read that fails or gives no answer is NaN, and reads do not overlap", async () => {
  expect(await gauge(async () => Promise.reject(new TypeError("away")))()).toMatch(/^nan$/i);
  let reads = 0;
  const scrape = gauge(() => {
    reads += 1;
    return new Promise(() => undefined);
  });
  expect([await scrape(), await scrape()]).toEqual([expect.stringMatching(/^nan$/i), expect.anything()]);
  expect(reads).toBe(1);
});

test("a gauge with a label has all series, also those that were not read", async () => {
  const series = async (read: () => Promise<ReadonlyMap<string, number>>): Promise<string[]> => {
    const registry = new Registry();
    const labelValues = ["QUEUED", "RUNNING"];
    const named = { name: "plans", help: "How many", label: "status", labelValues, timeoutMs: 20 };
    createLabelledReadGauge({ registers: [registry], ...named, read });
    return (await registry.metrics()).split("\n").filter((line) => line.startsWith("plans{"));
  };
  expect(await series(async () => new Map([["RUNNING", 3]]))).toEqual([
    'plans{status="QUEUED"} 0',
    'plans{status="RUNNING"} 3',
  ]);
  const away = [expect.stringMatching(/QUEUED.* nan$/i), expect.stringMatching(/RUNNING.* nan$/i)];
  expect(await series(() => new Promise(() => undefined))).toEqual(away);
});
