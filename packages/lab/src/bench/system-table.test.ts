import { expect, test } from "vitest";
import { type Measurement, tableOf } from "./system.ts";

const ours: Measurement = {
  name: "Planwright",
  versions: { version: "0.1.0", MongoDB: "8.2.0" },
  steps: "over MCP",
  end: "waitMs",
  inFlight: 64,
  figures: {
    plans: 500,
    plansPerSecond: 50,
    p50Ms: 8,
    p99Ms: 20,
    cpuMs: { bench: 0.1, api: 0.2 },
    counts: { "Redis commands": 40 },
  },
};
const peer: Measurement = {
  ...ours,
  name: "Restate",
  versions: { version: "1.7.12" },
  steps: "in process",
  end: "the answer",
  inFlight: 1,
  figures: { ...ours.figures, cpuMs: { bench: 0.3, restate: 1 }, counts: {} },
};

test("the table has a column for each measurement, with versions, where steps run, how the end is reported, and CPU by process", () => {
  const table = tableOf([ours, peer]);
  const [left, right] = ["Planwright, 64", "Restate, 1"] as const;
  expect(table["version"]).toEqual({ [left]: "0.1.0", [right]: "1.7.12" });
  expect(table["MongoDB"]).toEqual({ [left]: "8.2.0" });
  expect(table["steps"]).toEqual({ [left]: "over MCP", [right]: "in process" });
  expect(table["end reported by"]).toEqual({ [left]: "waitMs", [right]: "the answer" });
  expect(table["CPU ms/plan, all"]).toEqual({ [left]: 0.3, [right]: 1.3 });
  expect(table["CPU ms/plan, restate"]).toEqual({ [right]: 1 });
});

test("rows of one kind are adjacent, for all systems", () => {
  const rows = Object.keys(tableOf([ours, peer]));
  expect(rows.slice(-5)).toEqual([
    "CPU ms/plan, all",
    "CPU ms/plan, bench",
    "CPU ms/plan, api",
    "CPU ms/plan, restate",
    "Redis commands/plan",
  ]);
});
