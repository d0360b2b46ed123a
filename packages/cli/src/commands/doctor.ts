import { ApiRefusedError, explainError } from "@planwright/client";
import type { Found } from "@planwright/local";
import { CodedError, countText, durationText } from "@planwright/plan";
import { z } from "zod";
import { type HealthRecord, READ_HEALTH } from "../operations.ts";
import { DEFAULT_URL } from "../program-options.ts";
import { EXIT, type ExitCode } from "../report/exit-code.ts";
import { oneLine, type Style } from "../terminal.ts";
import type { CommandContext } from "./command-context.ts";

/**
 * Checks the system that answers, if one does, and this machine; prints what each check found, and what to do about
 * it. Exits with 1 when one of them is a problem.
 * @param version - of this program
 */
export async function doctor(context: CommandContext, version: string): Promise<ExitCode> {
  const { output, isJson } = context;
  const api = await checkApi(context, version);
  const isRunning = api.some(({ name, state }) => name === "API" && state === "ok");
  // Loaded when it is needed: it has the drivers of both databases.
  const { checkMachine, DATA_DIR } = await import("@planwright/local");
  const checks = [...(await checkMachine({ dataDir: DATA_DIR, isRunning })), ...api];
  const problems = checks.filter(({ state }) => state === "problem").length;
  const warnings = checks.filter(({ state }) => state === "warning").length;
  if (isJson) output.printJson({ version, problems, warnings, checks }, { isIndented: true });
  else {
    const verdict =
      problems + warnings === 0
        ? output.style("good", "Everything that was checked is in order.")
        : `${countText(problems, "problem")}, ${countText(warnings, "warning")}.`;
    output.print([...checks.flatMap((found) => foundLines(found, output.style)), "", verdict]);
  }
  return problems > 0 ? EXIT.PLAN_FAILED : EXIT.OK;
}

const MARKS = {
  ok: { mark: "✔", tone: "good" },
  warning: { mark: "!", tone: "attention" },
  problem: { mark: "✖", tone: "bad" },
} as const;

/** One line, and one below it with what to do. */
function foundLines({ name, state, text, remedy }: Found, style: Style): string[] {
  const { mark, tone } = MARKS[state];
  const line = `${style(tone, mark)} ${style("strong", oneLine(name, 60))}  ${oneLine(text, 500)}`;
  return remedy === undefined ? [line] : [line, `    → ${oneLine(remedy, 300)}`];
}

/** The answer of `/readyz`. */
const ReadySchema = z.object({
  version: z.string().optional(),
  missing: z.array(z.string()).default([]),
  failing: z.record(z.string(), z.string()).default({}),
});

async function checkApi(context: CommandContext, version: string): Promise<Found[]> {
  const { url } = context.client;
  const ready = await readReady(url, context.signal);
  if (!ready) return [notRunning(url)];
  const failing = Object.entries(ready.failing);
  if (failing.length > 0) {
    const text = `it is not ready: ${failing.map(([name, why]) => `${name} ${why}`).join("; ")}`;
    return [{ name: "API", state: "problem", text, remedy: "its log says more" }];
  }
  return [
    { name: "API", state: "ok", text: `ready at ${url}; its database answers` },
    versionFound(ready.version, version),
    ...ready.missing.map(
      (kind): Found => ({
        name: kind,
        state: kind === "executor" ? "problem" : "warning",
        text: kind === "executor" ? "none is alive: plans wait" : "none is alive: sentences are not planned",
        remedy: "planwright fleet shows which workers live; planwright up starts all roles",
      }),
    ),
    ...(await checkAsCaller(context)),
  ];
}

/** Undefined when nothing answers as an API does. */
async function readReady(
  url: string,
  signal: AbortSignal,
): Promise<z.output<typeof ReadySchema> | undefined> {
  try {
    const response = await fetch(new URL("/readyz", url), {
      signal: AbortSignal.any([signal, AbortSignal.timeout(5_000)]),
    });
    return ReadySchema.parse(await response.json());
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

function notRunning(url: string): Found {
  const isDefault = url === DEFAULT_URL;
  return {
    name: "API",
    state: isDefault ? "warning" : "problem",
    text: `nothing answers at ${url}: the system was not checked`,
    remedy: isDefault
      ? "planwright up starts it; PLANWRIGHT_URL names one that runs elsewhere"
      : "check PLANWRIGHT_URL and --url, and that the API runs",
  };
}

function versionFound(theirs: string | undefined, version: string): Found {
  if (theirs === version) return { name: "version", state: "ok", text: `${version}, as the API` };
  return {
    name: "version",
    state: "warning",
    text: `this program is ${version}, the API ${theirs ?? "an older one"}`,
    remedy: `npm install planwright@${theirs ?? "latest"} gives the same one`,
  };
}

/** What only a caller that the API accepts may see. */
async function checkAsCaller({ client, signal }: CommandContext): Promise<Found[]> {
  let health: HealthRecord;
  try {
    health = await client.execute(READ_HEALTH, {});
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof CodedError)) throw error;
    const name = error instanceof ApiRefusedError ? "API key" : "API";
    const { advice } = explainError(error);
    const remedy = advice.length > 0 ? { remedy: advice.join(" ") } : {};
    return [{ name, state: "problem", text: error.message, ...remedy }];
  }
  return [{ name: "API key", state: "ok", text: "the API accepts this caller" }, ...serversFound(health)];
}

function serversFound({ toolServers, tools }: HealthRecord): Found[] {
  if (toolServers.length === 0) {
    const remedy = "MCP_SERVERS_FILE of the executor names servers";
    return [{ name: "tool servers", state: "warning", text: "none is known: no plan is possible", remedy }];
  }
  return toolServers.map((server) => serverFound(server, tools));
}

function serverFound(
  {
    name: own,
    state,
    error,
    stderrTail,
    tools: count,
    leftOutCount,
    signIn,
  }: HealthRecord["toolServers"][number],
  tools: HealthRecord["tools"],
): Found {
  const name = `tool server ${own}`;
  if (state !== "CONNECTED") {
    const said = stderrTail?.trim().split("\n").at(-1);
    return {
      name,
      state: state === "CONNECTING" ? "warning" : "problem",
      text: `${error ?? "has not answered yet"}${said ? `; it wrote: ${said}` : ""}`,
      remedy: signIn?.isNeeded
        ? `planwright sign-in ${own}`
        : `it is tried again by itself; after a change: planwright tools --reload ${own}`,
    };
  }
  const [slowest] = tools
    .filter(({ server, calls }) => server === own && calls.p99Ms !== null)
    .toSorted((one, other) => (other.calls.p99Ms ?? 0) - (one.calls.p99Ms ?? 0));
  const slow = slowest
    ? `, the slowest is ${slowest.name} (p99 ${durationText(slowest.calls.p99Ms ?? 0)} of ${countText(slowest.calls.count, "call")})`
    : "";
  const text = `connected, ${countText(count, "tool")}${slow}`;
  if (leftOutCount === 0) return { name, state: "ok", text };
  return {
    name,
    state: "warning",
    text: `${text}; ${countText(leftOutCount, "tool")} cannot be used`,
    remedy: "planwright tools shows why",
  };
}
