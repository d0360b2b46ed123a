import { randomUUID } from "node:crypto";
import { sendAgain } from "@planwright/client";
import { isJsonObject, type JsonObject, schemaOfShape, shapeOfOutput } from "@planwright/plan";
import { SUBMIT_PLAN } from "../operations.ts";
import { resultLines } from "../report/diagnosis.ts";
import { EXIT, type ExitCode, exitCodeOf, UsageError } from "../report/exit-code.ts";
import { stepLine } from "../report/step-line.ts";
import { contractText, shapeLines } from "../report/tool-text.ts";
import { oneLine, printableJson, type Style } from "../terminal.ts";
import { confirmed } from "./act.ts";
import { objectOf } from "./ask-plan.ts";
import type { CommandContext } from "./command-context.ts";
import { leavingEarly, readResult } from "./follow-to-end.ts";
import { findTool } from "./look.ts";

/** The step of the plan that is made for a call. */
const STEP = "call";

/**
 * Calls one tool by hand, as a plan of one step: idempotency key, contract, journal and approvals are those of every
 * call. Shows the contract before, and duration, output and its shape after. A call with side effects needs `yes`, or
 * a person who agrees.
 * @param given - its arguments: a JSON object, or the file that has it
 * @throws {UsageError} for an unknown tool, and for side effects that were not agreed to
 */
export async function call(
  context: CommandContext,
  { name, given = "{}" }: { name: string; given?: string | undefined },
  { yes = false }: { yes?: boolean } = {},
): Promise<ExitCode> {
  const { client, output, isJson, canAsk, signal } = context;
  const [tool, args] = await Promise.all([
    findTool(context, name),
    objectOf("The arguments", given, context),
  ]);
  if (!isJson) output.print([...contractText(tool, output.style), ""]);
  const contract = isJsonObject(tool.contract) ? tool.contract : {};
  if (contract["sideEffects"] !== false && !yes) {
    const shown = oneLine(name, 120);
    if (!canAsk) throw new UsageError(`${shown} has side effects: --yes calls it. Nothing was called`);
    await confirmed(context, `Call ${shown}, which has side effects?`);
  }
  const variables = { ...planOf(name, args), key: randomUUID() };
  const { accepted } = await sendAgain(() => client.execute(SUBMIT_PLAN, variables), {
    signal,
    isKeyed: true,
  });
  const { requestId } = accepted;
  return leavingEarly(context, requestId, async () => {
    for await (const _ of client.follow(requestId, { signal, wasAccepted: true }));
    return showCall(context, requestId, tool.contract);
  });
}

function planOf(tool: string, args: JsonObject) {
  const plan = { steps: [{ id: STEP, tool, arguments: args }], outputs: [STEP] };
  return { plan, query: `Call ${tool} by hand`.slice(0, 1_000), execute: true };
}

async function showCall(context: CommandContext, requestId: string, contract: unknown): Promise<ExitCode> {
  const { output, isJson, command, now } = context;
  const { style } = output;
  const request = await readResult(context, requestId);
  const exitCode = exitCodeOf(request) ?? EXIT.NEEDS_DECISION;
  const step = request.plan?.steps.find(({ id }) => id === STEP);
  const isShown = step?.status === "COMPLETED" && !step.outputReference;
  const shape = isShown ? schemaOfShape(shapeOfOutput(step.output)) : null;
  if (isJson) {
    output.printJson(
      {
        requestId,
        exitCode,
        status: step?.status ?? request.status,
        effect: step?.effect ?? "none",
        durationMs: step?.durationMs ?? null,
        error: step?.error ?? request.error,
        output: step?.output ?? null,
        outputReference: step?.outputReference ?? null,
        shape,
        warnings: step?.warnings ?? [],
        contract,
      },
      { isIndented: true },
    );
    return exitCode;
  }
  output.print([
    ...(step ? [stepLine(step, [], { style, nowMs: now() })] : []),
    ...(isShown
      ? [...titled("Output", printableJson(step.output, 2).split("\n"), style)]
      : resultLines(request, command, style)),
    ...(shape ? titled("Shape", shapeLines(shape), style) : []),
    ...(step?.warnings ?? []).map((warning) => style("attention", oneLine(warning, 400))),
    "",
    style("quiet", `Everything about it: ${command("debug", requestId)}`),
  ]);
  return exitCode;
}

function titled(title: string, lines: readonly string[], style: Style): string[] {
  return ["", style("strong", title), ...lines.map((line) => `  ${line}`)];
}
