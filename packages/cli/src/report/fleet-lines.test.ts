import { expect, test } from "vitest";
import type { FleetRecord } from "../operations.ts";
import { plainStyle } from "../terminal.ts";
import { fleetLines, workloadLine } from "./fleet-lines.ts";

const EXECUTOR: FleetRecord["workers"][number] = {
  name: "host:1:abc",
  kind: "EXECUTOR",
  takesWork: true,
  hasModel: null,
  startedAt: "2026-11-24T10:00:00.000Z",
  seenAt: "2026-11-24T11:59:59.600Z",
  silentMs: 400,
  holds: 3,
};
const PLANNER: FleetRecord["workers"][number] = {
  ...EXECUTOR,
  name: "host:2:def",
  kind: "PLANNER",
  hasModel: false,
  holds: 0,
};
const SCREEN = { columns: Number.POSITIVE_INFINITY, style: plainStyle };
const NOTHING = { due: 0, oldest: null };
const FLEET: FleetRecord = {
  at: "2026-11-24T12:00:00.000Z",
  workers: [EXECUTOR, PLANNER],
  lostWorkers: [],
  plans: NOTHING,
  requests: NOTHING,
};

test("workers are shown with the age of their heartbeat and how much they hold", () => {
  expect(fleetLines(FLEET, SCREEN)).toEqual([
    "WORKER      KIND      UP         HEARTBEAT   HOLDS  STATE",
    "host:1:abc  executor  2 h 0 min  400 ms ago  3      takes work",
    "host:2:def  planner   2 h 0 min  400 ms ago  0      takes work, has no model",
    "",
    "No plan waits for an executor.",
    "No request waits for a planner.",
  ]);
});

test("waiting work is shown with the age of the oldest, and a dead worker with the leases that it lost", () => {
  const oldest = { since: "2026-11-24T11:59:00.000Z", ageMs: 60_000, requestId: "req_1" };
  const plans = { due: 2, oldest };
  const requests = { due: 1, oldest: { ...oldest, requestId: null } };
  const died = {
    name: "host:3:old",
    kind: "EXECUTOR",
    startedAt: EXECUTOR.startedAt,
    leasesLost: 1,
  } as const;
  const lostWorkers = [
    { ...died, seenAt: "2026-11-24T11:58:00.000Z", deadAt: "2026-11-24T11:58:05.000Z" },
    { ...died, seenAt: "2026-11-24T11:59:50.000Z", deadAt: null, leasesLost: 0 },
  ];
  expect(fleetLines({ ...FLEET, plans, requests, lostWorkers }, SCREEN).slice(4)).toEqual([
    "Waiting for an executor: 2 plans, the oldest for 1 min 0 s (req_1)",
    "Waiting for a planner: 1 request, the oldest for 1 min 0 s (of another tenant)",
    "",
    "Lost within the last hour",
    "WORKER      KIND      HEARTBEAT      STATE                          LOST",
    "host:3:old  executor  2 min 0 s ago  dead                           1 lease",
    "host:3:old  executor  10.0 s ago     silent, not declared dead yet  0 leases",
  ]);
});

test.each([40, 60, 80])("the tables of a fleet fit a terminal of %d columns", (columns) => {
  const name = `worker-${"of-a-long-host".repeat(3)}:4711:abcdef`;
  const died = { name, kind: "EXECUTOR", startedAt: EXECUTOR.startedAt, leasesLost: 12 } as const;
  const lost = { ...died, seenAt: "2026-11-24T11:59:50.000Z", deadAt: null };
  const fleet = { ...FLEET, workers: [{ ...PLANNER, name }], lostWorkers: [lost] };
  const lines = fleetLines(fleet, { columns, style: plainStyle }).filter((line) =>
    /^(worker|WORKER)/i.test(line),
  );
  expect(lines).toHaveLength(4);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(columns);
});

test("a missing executor or planner is shown first; a worker that stops takes no work", () => {
  const stopping = { ...EXECUTOR, takesWork: false };
  expect(fleetLines({ ...FLEET, workers: [stopping] }, SCREEN).slice(0, 2)).toEqual([
    "No executor takes work: no plan is executed, and plans that have begun wait. Start one (npm start).",
    "No planner takes work: no sentence is planned. Start one (npm start).",
  ]);
});

test("while no executor takes work it is not said that no plan waits for one", () => {
  const planner = { ...FLEET, workers: [PLANNER] };
  expect(fleetLines(planner, SCREEN).slice(-1)).toEqual(["No request waits for a planner."]);
  expect(fleetLines(planner, SCREEN)).not.toContain("No plan waits for an executor.");
});

test("callers without the scope read that the numbers need it", () => {
  const lines = fleetLines({ ...FLEET, plans: null, requests: null }, SCREEN);
  expect(lines).toContain("How many plans wait for an executor is shown to callers with the scope operate.");
});

test("the workload of the caller's tenant is one line", () => {
  const at = "2026-11-24T12:00:00.000Z";
  const workload = { at, since: at, ended: 0, failed: 0, running: 0, waiting: 0, oldestWaiting: null };
  expect(workloadLine(workload)).toBe(
    "Your requests: 0 begun, 0 waiting for a worker; 0 ended in the last hour, 0 of them failed",
  );
  const oldestWaiting = { since: at, ageMs: 3_000, requestId: "req_1" };
  expect(
    workloadLine({ ...workload, ended: 10_000, failed: 12, running: 3, waiting: 2, oldestWaiting }),
  ).toBe(
    "Your requests: 3 begun, 2 waiting for a worker, the oldest for 3.0 s; 10,000+ ended in the last hour, 12 of them failed",
  );
});
