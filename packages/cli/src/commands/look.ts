import { open, rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import { ApiRefusedError } from "@planwright/client";
import { findLeftOut, suggestForServer } from "@planwright/plan";
import {
  EXPLAIN_TOOLS,
  type ExplainedTool,
  LIST_CALLS,
  LIST_TOOLS,
  LIST_TOOLS_AND_SERVERS,
  READ_BUNDLE,
  READ_COSTS,
  READ_FLEET,
  READ_REQUEST,
  READ_SIGN_INS,
  RELOAD_SERVER,
  type SignInRecord,
  SUGGEST_CONTRACTS,
  type SuggestedContracts,
  type ToolRecord,
} from "../operations.ts";
import { debugReport } from "../report/debug-report.ts";
import { printedDiagnosis } from "../report/diagnosis.ts";
import { EXIT, type ExitCode, UsageError } from "../report/exit-code.ts";
import {
  costLines,
  fleetLines,
  leftOutTools,
  missingServers,
  reloadLines,
  signInLines,
  workloadLine,
} from "../report/fleet-lines.ts";
import { callsTable, contractProblems, toolsTable } from "../report/tables.ts";
import { suggestionJson, suggestionLines, toolText } from "../report/tool-text.ts";
import { oneLine } from "../terminal.ts";
import type { CommandContext } from "./command-context.ts";
import { instantOf, type Moment } from "./list-requests.ts";

/**
 * Reports on a request: the cause first, then everything recorded; with `bundle` it prints the record as JSON
 * without secrets.
 */
export async function debug(
  context: CommandContext,
  requestId: string,
  { bundle = false }: { bundle?: boolean } = {},
): Promise<ExitCode> {
  const { client, output, isJson, command, now } = context;
  if (bundle) {
    output.printJson((await client.execute(READ_BUNDLE, { requestId })).bundle, { isIndented: true });
    return EXIT.OK;
  }
  const [record, tools] = await Promise.all([
    client.readRequest(READ_REQUEST, requestId),
    readTools(context),
  ]);
  if (isJson) {
    const { diagnosis, ...request } = record;
    output.printJson({ diagnosis: printedDiagnosis(diagnosis, command), request }, { isIndented: true });
  } else output.print(debugReport({ request: record, tools, nowMs: now(), command }, output.style));
  return EXIT.OK;
}

/**
 * The tools that are offered now; empty when they cannot be read, because a report is useful without them.
 */
async function readTools({ client, signal }: CommandContext): Promise<ToolRecord[]> {
  const read = await client.execute(LIST_TOOLS, {}).catch(() => {
    signal.throwIfAborted();
    return { tools: [] };
  });
  return read.tools;
}

/** The options of `tools`. */
export interface ToolsOptions {
  /** Connects all executors to this server anew. */
  reload?: string;
  /** Lists the tools that were called lately, the slowest first. */
  slow?: boolean;
}

/** Lists the tools, or shows one of them; with `reload` it connects all executors to a server anew. */
export async function tools(
  context: CommandContext,
  name: string | undefined,
  { reload, slow = false }: ToolsOptions = {},
): Promise<ExitCode> {
  if (reload !== undefined) return reloadServer(context, reload);
  if (slow) return listSlow(context);
  if (name !== undefined) return showTool(context, name);
  const { client, output, isJson, now } = context;
  const { tools: all, toolServers } = await client.execute(LIST_TOOLS_AND_SERVERS, {});
  if (isJson) output.printJson(all, { isIndented: true });
  else {
    output.print([
      ...toolsTable(all, output.columns, output.style),
      ...leftOutTools(toolServers, output.style),
      ...missingServers(toolServers, { style: output.style, nowMs: now() }),
      ...contractProblems(all, output.style),
    ]);
  }
  return EXIT.OK;
}

/** By the 99th percentile; tools without a measured call come last. */
async function listSlow({ client, output, isJson, now }: CommandContext): Promise<ExitCode> {
  const { tools: all } = await client.execute(LIST_CALLS, {});
  const called = all
    .filter(({ calls }) => calls.count > 0)
    .toSorted((one, other) => (other.calls.p99Ms ?? -1) - (one.calls.p99Ms ?? -1));
  if (isJson) output.printJson(called, { isIndented: true });
  else output.print(callsTable(called, { columns: output.columns, style: output.style, nowMs: now() }));
  return EXIT.OK;
}

async function showTool(context: CommandContext, name: string): Promise<ExitCode> {
  const { output, isJson, now } = context;
  const tool = await findTool(context, name);
  if (isJson) output.printJson(tool, { isIndented: true });
  else output.print(toolText(tool, { style: output.style, nowMs: now() }));
  return EXIT.OK;
}

/** A tool that plans may use. @throws {UsageError} that says why there is none of this name */
export async function findTool({ client }: CommandContext, name: string): Promise<ExplainedTool> {
  const { tools: all, toolServers } = await client.execute(EXPLAIN_TOOLS, {});
  const tool = all.find((one) => one.name === name);
  if (tool) return tool;
  const listed = toolServers.flatMap(({ name: server, leftOut }) =>
    leftOut.map((each) => ({ server, ...each })),
  );
  const found = findLeftOut(listed, name);
  throw new UsageError(
    found
      ? `Plans cannot use ${oneLine(name, 120)}: server ${oneLine(found.server, 60)} lists it, but it is left out because ${oneLine(found.reason, 300)}`
      : `No tool is named ${oneLine(name, 120)}; planwright tools lists all tools`,
  );
}

/** Done when every executor has the new connection. */
async function reloadServer({ client, output, isJson }: CommandContext, name: string): Promise<ExitCode> {
  const { reload } = await client.execute(RELOAD_SERVER, { name });
  if (isJson) output.printJson(reload, { isIndented: true });
  else output.print(reloadLines(reload, output.style));
  return reload.executors.every(({ outcome }) => outcome === "RELOADED") ? EXIT.OK : EXIT.PLAN_FAILED;
}

/** How often the API is asked whether a person has signed in, in milliseconds. */
const SIGN_IN_POLL_MS = 1_000;

/**
 * Prints the address at which a person signs in at a tool server, and waits until that is done. Without a server it
 * lists the sign-ins.
 */
export async function signIn(context: CommandContext, server: string | undefined): Promise<ExitCode> {
  const { client, output, isJson, now } = context;
  const read = async () =>
    (await client.execute(READ_SIGN_INS, {})).toolServers.flatMap(({ name, signIn: found }) =>
      found ? [{ server: name, ...found }] : [],
    );
  const all = await read();
  if (server === undefined) {
    if (isJson) output.printJson(all, { isIndented: true });
    else output.print(signInLines(all, { style: output.style, nowMs: now() }));
    return EXIT.OK;
  }
  const found = all.find((one) => one.server === server);
  if (!found) {
    const names = all.map((one) => oneLine(one.server, 60)).join(", ");
    throw new UsageError(
      `No sign-in is known for a server ${oneLine(server, 60)}; there are: ${names || "none"}. A server has one when its entry in the servers file has "auth"`,
    );
  }
  const readAgain = async () => (await read()).find((one) => one.server === server);
  if (found.isNeeded) await untilSignedIn(context, found, readAgain);
  if (isJson) output.printJson({ event: "end", exitCode: EXIT.OK, server, isNeeded: false });
  else output.note([`Signed in at ${oneLine(server, 60)}`]);
  return EXIT.OK;
}

/**
 * Prints where a person signs in, and again after a sign-in that failed, until none is needed.
 * @param readAgain - undefined: the server has no sign-in any more
 */
async function untilSignedIn(
  { output, isJson, signal }: CommandContext,
  first: { server: string } & SignInRecord,
  readAgain: () => Promise<({ server: string } & SignInRecord) | undefined>,
): Promise<void> {
  if (first.url === null)
    throw new UsageError(
      "Only a key with the scope admin shows where to sign in: all plans use that account",
    );
  const { server } = first;
  if (isJson) output.printJson({ event: "sign-in", server, url: first.url, error: first.error });
  else {
    if (first.error !== null) output.note([`The last sign-in failed: ${oneLine(first.error, 300)}`]);
    output.print([first.url]);
    output.note(["Open this address in a browser, and sign in there. Waiting ..."]);
  }
  for (let current: typeof first | undefined = first; current?.isNeeded; ) {
    await delay(SIGN_IN_POLL_MS, undefined, { signal }).catch(() => undefined);
    signal.throwIfAborted();
    const next = await readAgain();
    if (next?.isNeeded && next.url !== current.url) {
      if (isJson) output.printJson({ event: "sign-in", server, url: next.url, error: next.error });
      else {
        const why = oneLine(next.error ?? "see the log of the executor", 300);
        output.note([`The sign-in failed: ${why}. Try again:`]);
        output.print([next.url ?? ""]);
      }
    }
    current = next;
  }
}

/**
 * Suggests contracts for the tools of a server, each field with its reason, and asks a model for more if there is
 * one. Changes nothing: an operator accepts them in the servers file.
 */
export async function suggestContracts(context: CommandContext, server: string): Promise<ExitCode> {
  const { client, output, isJson } = context;
  const { tools: all } = await client.execute(EXPLAIN_TOOLS, {});
  const own = all.filter((tool) => tool.server === server);
  if (own.length === 0) {
    const servers = [...new Set(all.map((tool) => oneLine(tool.server, 60)))].join(", ");
    throw new UsageError(
      `No tools of a server ${oneLine(server, 60)} are known; there are: ${servers || "none"}`,
    );
  }
  const suggested = await suggestionsOf(context, server, own);
  if (isJson) output.printJson(suggestionJson(suggested), { isIndented: true });
  else output.print(suggestionLines(suggested, own.length, output.style));
  return EXIT.OK;
}

/** Longer than a planner asks a model for one server, in milliseconds. */
const MODEL_WAIT_MS = 240_000;

/** The suggestions of the API, with those of a model once it has answered; those of the rules if it refuses. */
async function suggestionsOf(
  { client, now, output }: CommandContext,
  server: string,
  tools: readonly ExplainedTool[],
): Promise<SuggestedContracts> {
  const untilMs = now() + MODEL_WAIT_MS;
  try {
    for (let isFirst = true; ; isFirst = false) {
      const { suggested } = await client.execute(SUGGEST_CONTRACTS, { server });
      if (suggested.state !== "PENDING" || now() >= untilMs) return suggested;
      if (isFirst) output.note(["Waiting for the model ..."]);
    }
  } catch (error) {
    if (!(error instanceof ApiRefusedError)) throw error;
    const note = `No model was asked: ${error.message}`;
    return { server, state: "FAILED", note, tools: suggestForServer(tools, server) };
  }
}

/**
 * Shows the workers of the service, the work that waits for them, and the workload of the caller's tenant.
 */
export async function fleet({ client, output, isJson }: CommandContext): Promise<ExitCode> {
  const { fleet: read, workload } = await client.execute(READ_FLEET, {});
  if (isJson) output.printJson({ ...read, workload }, { isIndented: true });
  else output.print([...fleetLines(read, output), "", workloadLine(workload)]);
  return EXIT.OK;
}

/** Shows what the model calls of the caller's tenant cost within a time. */
export async function cost(
  { client, output, isJson, now }: CommandContext,
  { since, until }: { since: Moment; until?: Moment },
): Promise<ExitCode> {
  const nowMs = now();
  const before = until ? instantOf(until, nowMs) : null;
  const { costs } = await client.execute(READ_COSTS, { from: instantOf(since, nowMs), before });
  if (isJson) output.printJson(costs, { isIndented: true });
  else output.print(costLines(costs, { columns: output.columns, style: output.style }));
  return EXIT.OK;
}

/** The options of `output`. */
export interface OutputOptions {
  /** A file that does not exist yet. Default: standard output. */
  out?: string;
}

/**
 * Prints the JSON text of an output as it is stored, of any size; to a terminal without characters that
 * control it.
 */
export async function printOutput(
  { client, output, isJson }: CommandContext,
  ref: string,
  { out }: OutputOptions,
): Promise<ExitCode> {
  if (out === undefined) {
    await output.printStream(Readable.from(await client.download(ref)));
    return EXIT.OK;
  }
  try {
    const file = await open(out, "wx");
    try {
      await pipeline(Readable.from(await client.download(ref)), file.createWriteStream());
    } catch (error) {
      await file.close();
      // The beginning of an output would look like all of it.
      await rm(out, { force: true });
      throw error;
    }
  } catch (error) {
    if (!(error instanceof Error) || !("syscall" in error)) throw error;
    throw new UsageError(`${oneLine(out, 200)} cannot be written: ${oneLine(error.message, 200)}`, error);
  }
  if (isJson) output.printJson({ ref, file: out });
  else output.note([`Written to ${out}`]);
  return EXIT.OK;
}
