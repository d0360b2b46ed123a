import { type FollowOptions, type RequestRun, sendAgain } from "@planwright/client";
import { READ_REQUEST, type RequestRecord } from "../operations.ts";
import { resultLines } from "../report/diagnosis.ts";
import { EXIT, type ExitCode, exitCodeOf } from "../report/exit-code.ts";
import { progressEvents, progressLines, progressTree } from "../report/progress.ts";
import { oneLine } from "../terminal.ts";
import type { CommandContext } from "./command-context.ts";
import { printError } from "./print-error.ts";

/** Most lines of the tree that stays on the screen. */
const MAX_TREE_LINES = 200;

/**
 * Shows the progress of a request, by default one that was just accepted, until it has ended or needs a client
 * or operator, then its result. When the user stops earlier, the request continues.
 */
export function followToEnd(
  context: CommandContext,
  requestId: string,
  { until, wasAccepted = true }: Pick<FollowOptions, "until" | "wasAccepted"> = {},
): Promise<ExitCode> {
  const follow = { until, wasAccepted };
  return leavingEarly(context, requestId, async () => {
    if (context.isJson) await showEvents(context, requestId, follow);
    else if (context.output.isTerminal) await showLive(context, requestId, follow);
    else await showLines(context, requestId, follow);
    return showResult(context, requestId);
  });
}

async function showEvents(context: CommandContext, requestId: string, follow: FollowOptions): Promise<void> {
  const { client, signal, output } = context;
  let before: RequestRun | null = null;
  const onTrouble = (error: Error) => output.printJson({ event: "trouble", message: error.message });
  for await (const now of client.follow(requestId, { ...follow, signal, onTrouble })) {
    for (const event of progressEvents(before, now)) output.printJson(event);
    before = now;
  }
}

async function showLines(context: CommandContext, requestId: string, follow: FollowOptions): Promise<void> {
  const { client, signal, output } = context;
  let before: RequestRun | null = null;
  let told: string | undefined;
  // Each second another try fails: one line says so.
  const onTrouble = ({ message }: Error) => {
    if (message !== told) output.note([`${message}; trying again`]);
    told = message;
  };
  for await (const now of client.follow(requestId, { ...follow, signal, onTrouble })) {
    told = undefined;
    output.print(progressLines(before, now));
    before = now;
  }
}

/** Reads a request that was followed: again while the API is just being restarted, as following it is. */
export function readResult(
  { client, signal }: Pick<CommandContext, "client" | "signal">,
  requestId: string,
): Promise<RequestRecord> {
  return sendAgain(() => client.readRequest(READ_REQUEST, requestId), { signal, isKeyed: true });
}

/** Prints the result of a request, or the decision that it waits for. */
export async function showResult(context: CommandContext, requestId: string): Promise<ExitCode> {
  const { output, isJson, command, now } = context;
  const request = await readResult(context, requestId);
  const exitCode = exitCodeOf(request) ?? EXIT.NEEDS_DECISION;
  if (isJson) {
    output.printJson({ event: "end", exitCode, request });
    return exitCode;
  }
  const { style } = output;
  if (output.isTerminal) {
    output.print([...progressTree(request, { style, nowMs: now(), maxLines: MAX_TREE_LINES }), ""]);
  }
  output.print(resultLines(request, command, style));
  return exitCode;
}

const FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
const FRAME_MS = 100;

/** Follows a request on a terminal with a tree that is redrawn while it runs and removed at the end. */
export async function showLive(
  { client, output, signal, now }: CommandContext,
  requestId: string,
  follow: FollowOptions = {},
): Promise<void> {
  const view = await output.live();
  const { style } = output;
  let request: RequestRun | undefined;
  let trouble: string | undefined;
  let frame = 0;
  const draw = () => {
    const spinner = FRAMES[frame++ % FRAMES.length] ?? "";
    // One line is left for the cursor, one for a trouble message.
    const maxLines = Math.max(3, output.rows - 3);
    const lines = request
      ? progressTree(request, { style, nowMs: now(), maxLines, spinner })
      : [`${style("busy", spinner)} ${requestId}`];
    view.draw(trouble === undefined ? lines : [...lines, style("attention", trouble)]);
  };
  const timer = setInterval(draw, FRAME_MS);
  const onTrouble = (error: Error) => {
    trouble = `${oneLine(error.message, output.columns - 20)}; trying again`;
  };
  try {
    for await (const now of client.follow(requestId, { ...follow, signal, onTrouble })) {
      request = now;
      trouble = undefined;
      draw();
    }
  } finally {
    clearInterval(timer);
    view.clear();
  }
}

/**
 * Waits for a request. When the wait ends early, prints that the request continues and how to follow it
 * again.
 */
export async function leavingEarly(
  { output, isJson, command }: CommandContext,
  requestId: string,
  wait: () => Promise<ExitCode>,
): Promise<ExitCode> {
  try {
    return await wait();
  } catch (error) {
    const instruction = "The request continues without this program. To follow it again:";
    return printError(error, {
      output,
      isJson,
      next: [{ instruction, command: command("watch", requestId) }],
    });
  }
}
