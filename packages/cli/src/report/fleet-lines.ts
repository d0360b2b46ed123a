import { boundedText, countText, durationText, shareText } from "@planwright/plan";
import type {
  CostRecord,
  CostsRecord,
  FleetRecord,
  ServerReload,
  SignInRecord,
  ToolServer,
  WorkloadRecord,
} from "../operations.ts";
import { oneLine, type Style } from "../terminal.ts";
import { between, toSecond } from "./format.ts";
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

/**
 * What model calls cost: by model, in total, and the most expensive requests. Pure.
 * @param columns - width of the terminal; Infinity cuts nothing
 */
export function costLines(
  { from, before, models, requests, total, isComplete }: CostsRecord,
  { columns, style }: { columns: number; style: Style },
): string[] {
  const time = `from ${toSecond(from)} to ${toSecond(before)}`;
  if (total.calls === 0) return [`No model was called ${time}.`];
  const rows = models.map(({ model, cost }) => [oneLine(model, 60), ...numbersOf(cost)]);
  const expensive = requests.map(({ requestId, title, cost }) => [
    usd(cost),
    oneLine(requestId, 64),
    oneLine(title ?? "removed", columns),
  ]);
  return [
    `Model calls ${time}`,
    "",
    ...table(
      ["MODEL", "CALLS", "FAILED", "TOKENS IN", "CACHED", "TOKENS OUT", "USD"],
      [...rows, ["total", ...numbersOf(total)]],
      style,
      {
        columns,
        least: [12, null, null, null, null, null, null],
        leaveOut: ["CACHED", "TOKENS OUT", "TOKENS IN", "FAILED", "CALLS"],
      },
    ),
    ...notesOf(total, isComplete).map((note) => style("attention", note)),
    "",
    ...table(["USD", "REQUEST", "SENTENCE"], expensive, style, { columns, least: [null, null, 12] }),
  ];
}

function numbersOf(cost: CostRecord): string[] {
  const { calls, failures, inputTokens, cachedInputTokens, outputTokens } = cost;
  const failed = failures === 0 ? "0" : `${failures} (${shareText(failures, calls)})`;
  return [String(calls), failed, ...[inputTokens, cachedInputTokens, outputTokens].map(String), usd(cost)];
}

/** With "?" where calls have no known price. */
function usd({ costUsd, calls, unpriced }: CostRecord): string {
  if (unpriced === calls) return "?";
  return `${costUsd.toFixed(costUsd < 1 ? 4 : 2)}${unpriced > 0 ? " + ?" : ""}`;
}

/** What is not part of the sums. */
function notesOf({ unended, unpriced }: CostRecord, isComplete: boolean): string[] {
  return [
    ...(unpriced > 0
      ? [`?: the price of ${countText(unpriced, "call")} is not known; MODEL_PRICES_FILE sets prices`]
      : []),
    ...(unended > 0 ? [`Not in the sums: ${countText(unended, "call")} without an end`] : []),
    ...(isComplete ? [] : ["Only the newest 200,000 calls are counted; choose a shorter time"]),
  ];
}

/**
 * The servers that are not connected, with the reason, the duration and the last lines of their processes;
 * empty if all are connected.
 */
export function missingServers(
  servers: readonly ToolServer[],
  { style, nowMs }: { style: Style; nowMs: number },
): string[] {
  const missing = servers.filter(({ state }) => state !== "CONNECTED");
  if (missing.length === 0) return [];
  return [
    "",
    style("attention", "Tool servers that are not connected"),
    ...missing.flatMap((server) => [
      `  ${oneLine(server.name, 60)}  ${whyOf(server)}, for ${durationText(between(server.since, nowMs) ?? 0)}${nextOf(server, nowMs)}`,
      ...stderrLines(server.stderrTail),
    ]),
  ];
}

/** The sign-ins at tool servers, one line each. */
export function signInLines(
  all: readonly ({ server: string } & SignInRecord)[],
  { style, nowMs }: { style: Style; nowMs: number },
): string[] {
  if (all.length === 0) return ['No tool server has a sign-in: none has "auth" in the servers file'];
  return all.map(({ server, isNeeded, since, expiresAt, error }) => {
    const name = oneLine(server, 60);
    if (!isNeeded) {
      const restMs = expiresAt === null ? null : Date.parse(expiresAt) - nowMs;
      const ends = restMs === null || restMs <= 0 ? "" : `; its token is renewed in ${durationText(restMs)}`;
      return `${name}  signed in${ends}`;
    }
    const waits = since === null ? "" : ` for ${durationText(between(since, nowMs) ?? 0)}`;
    const why = error === null ? "" : `: ${oneLine(error, 200)}`;
    return style("attention", `${name}  needs a sign-in${waits}${why}`);
  });
}

/** How each executor reloaded a server. */
export function reloadLines({ name, executors }: ServerReload, style: Style): string[] {
  const server = oneLine(name, 60);
  const words: Readonly<Record<string, string>> = {
    RELOADED: `reloaded ${server}`,
    UNKNOWN: `does not have ${server} in its servers file`,
    PENDING: `has not answered yet; it reloads ${server} as long as it lives`,
  };
  if (executors.length === 0) return [`No executor that was alive had to reload ${server}`];
  return executors.flatMap(({ executor, outcome, reason, stderrTail }) => {
    const what = words[outcome] ?? `keeps the earlier connection of ${server}: ${oneLine(reason ?? "", 300)}`;
    const line = `${oneLine(executor, 120)} ${what}`;
    return [outcome === "RELOADED" ? line : style("attention", line), ...stderrLines(stderrTail)];
  });
}

function stderrLines(stderrTail: string | null): string[] {
  const lines = (stderrTail ?? "").split("\n").filter((line) => line !== "");
  return lines.map((line) => `    | ${oneLine(line, 200)}`);
}

/** Most left-out tools of one server that are printed. */
const SHOWN_LEFT_OUT = 20;

/** The tools that servers list and that no plan can use, with the reasons; empty if there are none. */
export function leftOutTools(servers: readonly ToolServer[], style: Style): string[] {
  const rows = servers.flatMap(({ name, leftOut, leftOutCount }) => {
    const shown = leftOut.slice(0, SHOWN_LEFT_OUT);
    const more = leftOutCount - shown.length;
    return [
      ...shown.map(
        ({ tool, reason }) =>
          `  ${oneLine(tool ?? "(no name)", 128)} of server ${oneLine(name, 60)}: ${oneLine(reason, 300)}`,
      ),
      ...(more > 0 ? [`  ${more} more of server ${oneLine(name, 60)}`] : []),
    ];
  });
  return rows.length === 0 ? [] : ["", style("attention", "Listed tools that plans cannot use"), ...rows];
}

function whyOf({ state, error }: ToolServer): string {
  if (error !== null) return oneLine(error, 300);
  return state === "CONNECTING" ? "has not answered yet" : "is not connected";
}

function nextOf({ nextAttemptAt }: ToolServer, nowMs: number): string {
  const inMs = nextAttemptAt === null ? null : Date.parse(nextAttemptAt) - nowMs;
  return inMs === null || inMs <= 0 ? "" : `; tried again in ${durationText(inMs)}`;
}
