import { randomUUID } from "node:crypto";
import { CREATE_PLAN, SUBMIT_PLAN } from "../api/operations.ts";
import { EXIT, type ExitCode } from "../report/exit-code.ts";
import { askAgain } from "./ask-again.ts";
import type { CommandContext } from "./command-context.ts";
import { followToEnd } from "./follow-to-end.ts";
import { readPlanFile } from "./read-plan-file.ts";
import { showPlan } from "./show-plan.ts";

/** Words by which a request is found again. */
type Tagged = { tag?: string[] };

/** Plans a sentence and executes the plan; follows it unless it is to be left alone. */
export async function run(
  context: CommandContext,
  sentence: string,
  { detach, tag }: Tagged & { detach?: boolean },
): Promise<ExitCode> {
  const requestId = await createPlan(context, { query: sentence, execute: true, tags: tag });
  return detach ? accepted(context, requestId) : followToEnd(context, requestId);
}

/** Plans a sentence and shows the plan; starts nothing. */
export async function plan(
  context: CommandContext,
  sentence: string,
  { tag }: Tagged = {},
): Promise<ExitCode> {
  return showPlan(context, await createPlan(context, { query: sentence, execute: false, tags: tag }));
}

async function createPlan(
  context: CommandContext,
  asked: { query: string; execute: boolean; tags: string[] | undefined },
): Promise<string> {
  const variables = { ...asked, key: randomUUID() };
  return (await askAgain(context, () => context.client.ask(CREATE_PLAN, variables))).requestId;
}

/** Hands in a plan as JSON; with `execute` it is started and followed. */
export async function submit(
  context: CommandContext,
  file: string,
  { execute = false, query, detach, tag }: Tagged & { execute?: boolean; query?: string; detach?: boolean },
): Promise<ExitCode> {
  const document = await readPlanFile(file, context.signal);
  const variables = { plan: document, execute, query, tags: tag, key: randomUUID() };
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
