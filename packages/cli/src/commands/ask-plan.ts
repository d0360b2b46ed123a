import { randomUUID } from "node:crypto";
import { CREATE_PLAN, SUBMIT_PLAN } from "../api/operations.ts";
import { EXIT, type ExitCode } from "../report/exit-code.ts";
import { askAgain } from "./ask-again.ts";
import type { CommandContext } from "./command-context.ts";
import { followToEnd } from "./follow-to-end.ts";
import { readPlanFile } from "./read-plan-file.ts";
import { showPlan } from "./show-plan.ts";

/** Plans a sentence and executes the plan; follows it unless it is to be left alone. */
export async function run(
  context: CommandContext,
  sentence: string,
  { detach }: { detach?: boolean },
): Promise<ExitCode> {
  const requestId = await createPlan(context, sentence, true);
  return detach ? accepted(context, requestId) : followToEnd(context, requestId);
}

/** Plans a sentence and shows the plan; starts nothing. */
export async function plan(context: CommandContext, sentence: string): Promise<ExitCode> {
  return showPlan(context, await createPlan(context, sentence, false));
}

async function createPlan(context: CommandContext, query: string, execute: boolean): Promise<string> {
  const variables = { query, execute, key: randomUUID() };
  return (await askAgain(context, () => context.client.ask(CREATE_PLAN, variables))).requestId;
}

/** Hands in a plan as JSON; with `execute` it is started and followed. */
export async function submit(
  context: CommandContext,
  file: string,
  { execute = false, query, detach }: { execute?: boolean; query?: string; detach?: boolean },
): Promise<ExitCode> {
  const document = await readPlanFile(file, context.signal);
  const variables = { plan: document, execute, query, key: randomUUID() };
  const { requestId } = await askAgain(context, () => context.client.ask(SUBMIT_PLAN, variables));
  if (!execute) return showPlan(context, requestId);
  return detach ? accepted(context, requestId) : followToEnd(context, requestId);
}

function accepted({ output, isJson, command }: CommandContext, requestId: string): ExitCode {
  if (isJson) output.printJson({ event: "accepted", requestId });
  else {
    output.print([requestId]);
    output.note([`To follow it:  ${command("watch", requestId)}`]);
  }
  return EXIT.OK;
}
