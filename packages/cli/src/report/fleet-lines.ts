import { boundedText, countText, durationText } from "@planwright/plan";
import type { FleetRecord, WorkloadRecord } from "../api/fleet.ts";
import type { Style } from "../terminal/style.ts";
import { oneLine } from "../terminal/visible-text.ts";
import { between } from "./format.ts";
import { table } from "./tables.ts";

type Worker = FleetRecord["workers"][number];
type LostWorker = FleetRecord["lostWorkers"][number];
type Waiting = FleetRecord["plans"];

/** Where lines are shown. */
interface Screen {
  /** Width of the terminal; Infinity cuts nothing. */
  columns: number;
  style: Style;
}

/** The workers that are alive, the work that waits for them, and the workers that died. Pure. */
export function fleetLines(
  { at, workers, lostWorkers, plans, requests }: FleetRecord,
  { columns, style }: Screen,
): string[] {
  const nowMs = Date.parse(at);
  const missing = missingKinds(workers);
  // Work that a dead worker had begun waits, too, but is counted only when another worker has found it.
  const waiting = [
    plans?.due === 0 && missing.has("EXECUTOR") ? [] : [waitingLine("plan", "an executor", plans)],
    requests?.due === 0 && missing.has("PLANNER") ? [] : [waitingLine("request", "a planner", requests)],
  ].flat();
  return [
    ...[...missing].map((kind) => style("bad", MISSING[kind])),
    ...(workers.length > 0 ? workersTable(workers, nowMs, { columns, style }) : []),
    ...(workers.length > 0 && waiting.length > 0 ? [""] : []),
    ...waiting,
    ...lostLines(lostWorkers, nowMs, { columns, style }),
  ];
}

/** The requests of the caller's tenant: running, waiting, and ended within the last hour. Pure. */
export function workloadLine({ ended, failed, running, waiting, oldestWaiting }: WorkloadRecord): string {
  const oldest = oldestWaiting && `, the oldest for ${durationText(oldestWaiting.ageMs)}`;
  const lately = `${boundedText(ended, MAX_COUNTED)} ended in the last hour, ${boundedText(failed, MAX_COUNTED)} of them failed`;
  return `Your requests: ${boundedText(running, MAX_COUNTED)} begun, ${boundedText(waiting, MAX_COUNTED)} waiting for a worker${oldest ?? ""}; ${lately}`;
}

/** The API counts no further. */
const MAX_COUNTED = 10_000;

/** What it means that no worker of a kind takes work. */
const MISSING = {
  EXECUTOR:
    "No executor takes work: no plan is executed, and plans that have begun wait. Start one (npm start).",
  PLANNER: "No planner takes work: no sentence is planned. Start one (npm start).",
} as const satisfies Record<Worker["kind"], string>;

/** The kinds of workers of which none takes work. */
function missingKinds(workers: readonly Worker[]): Set<keyof typeof MISSING> {
  const takes = new Set(workers.filter(({ takesWork }) => takesWork).map(({ kind }) => kind));
  return new Set((["EXECUTOR", "PLANNER"] as const).filter((kind) => !takes.has(kind)));
}

function workersTable(workers: readonly Worker[], nowMs: number, { columns, style }: Screen): string[] {
  const rows = workers.map((worker) => [
    oneLine(worker.name, 60),
    worker.kind.toLowerCase(),
    durationText(between(worker.startedAt, nowMs) ?? 0),
    `${durationText(worker.silentMs)} ago`,
    worker.holds === null ? "" : String(worker.holds),
    stateOf(worker),
  ]);
  return table(["WORKER", "KIND", "UP", "HEARTBEAT", "HOLDS", "STATE"], rows, style, {
    columns,
    least: [12, null, null, null, null, 12],
    leaveOut: ["UP", "HOLDS", "HEARTBEAT", "KIND"],
  });
}

function stateOf({ kind, takesWork, hasModel }: Worker): string {
  const state = takesWork ? "takes work" : "stops, takes no more work";
  return kind === "PLANNER" && hasModel === false ? `${state}, has no model` : state;
}

function waitingLine(what: string, worker: string, waiting: Waiting): string {
  if (!waiting) return `How many ${what}s wait for ${worker} is shown to callers with the scope operate.`;
  if (!waiting.oldest) return `No ${what} waits for ${worker}.`;
  const { ageMs, requestId } = waiting.oldest;
  const which = requestId === null ? "of another tenant" : oneLine(requestId, 64);
  return `Waiting for ${worker}: ${countText(waiting.due, what)}, the oldest for ${durationText(ageMs)} (${which})`;
}

function lostLines(lost: readonly LostWorker[], nowMs: number, { columns, style }: Screen): string[] {
  if (lost.length === 0) return [];
  const rows = lost.map(({ name, kind, seenAt, deadAt, leasesLost }) => [
    oneLine(name, 60),
    kind.toLowerCase(),
    `${durationText(between(seenAt, nowMs) ?? 0)} ago`,
    deadAt === null ? "silent, not declared dead yet" : "dead",
    leasesLost === null ? "" : countText(leasesLost, "lease"),
  ]);
  return [
    "",
    style("attention", "Lost within the last hour"),
    ...table(["WORKER", "KIND", "HEARTBEAT", "STATE", "LOST"], rows, style, {
      columns,
      least: [12, null, null, 6, null],
      leaveOut: ["LOST", "KIND", "HEARTBEAT"],
    }),
  ];
}
