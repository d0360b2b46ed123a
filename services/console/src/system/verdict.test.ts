import { expect, test } from "vitest";
import type { FleetFacts } from "../data/catalogue-operations.ts";
import { verdictOf } from "./fleet-line.tsx";

const AT = "2026-11-24T10:00:00.000Z";
const worker = (kind: "EXECUTOR" | "PLANNER", takesWork = true) => ({
  name: kind,
  kind,
  takesWork,
  hasModel: null,
  startedAt: AT,
  seenAt: AT,
  silentMs: 100,
  holds: 0,
});
const waiting = (ageMs: number) => ({ due: 1, oldest: { since: AT, ageMs, requestId: null } });
const FLEET: FleetFacts = {
  at: AT,
  workers: [worker("EXECUTOR"), worker("PLANNER")],
  lostWorkers: [],
  plans: { due: 0, oldest: null },
  requests: { due: 0, oldest: null },
};
const LOST = { name: "e", kind: "EXECUTOR" as const, startedAt: AT, seenAt: AT, deadAt: AT, leasesLost: 2 };

test.each<[string, Partial<FleetFacts>, string]>([
  ["1 executor and 1 planner take work", {}, "good"],
  ["No executor takes work", { workers: [worker("PLANNER"), worker("EXECUTOR", false)] }, "bad"],
  ["No planner takes work", { workers: [worker("EXECUTOR")] }, "bad"],
  ["The oldest plan has waited", { plans: waiting(31_000) }, "attention"],
  ["The oldest request has waited", { requests: waiting(31_000), plans: null }, "attention"],
  [
    "1 worker was lost within the last hour. 1 executor and 1 planner continue the work.",
    { lostWorkers: [LOST], plans: waiting(1_000) },
    "attention",
  ],
])("%s", (message, facts, tone) => {
  expect(verdictOf({ ...FLEET, ...facts })).toMatchObject({
    message: expect.stringContaining(message),
    tone,
  });
});
