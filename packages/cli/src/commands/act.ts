import type { JsonValue } from "@planwright/plan";
import type { Operation } from "../api/api-client.ts";
import type { Accepted } from "../api/operations.ts";
import { EXIT, type ExitCode } from "../report/exit-code.ts";
import { OVER } from "../report/need.ts";
import { askAgain } from "./ask-again.ts";
import type { CommandContext } from "./command-context.ts";
import { followToEnd } from "./follow-to-end.ts";

/** Something done to a request. */
export interface Action {
  operation: Operation<Accepted>;
  variables: Record<string, JsonValue | undefined> & { requestId: string };
  /** What is said once the API has taken it: what became of the request by it, and nothing more. */
  done: (accepted: Accepted) => string;
  /** True follows the request then. */
  watch?: boolean | undefined;
  /** It bears an idempotency key: sent again it changes nothing more. Default false. */
  isKeyed?: boolean | undefined;
  /** It ends the plan: what it waits for meanwhile does not matter any more. Default false. */
  isEnd?: boolean | undefined;
}

/**
 * Asks for a change of a request; says what became of it, or follows what comes of it.
 * @throws {ApiRefusedError} where the API changed nothing
 */
export async function act(
  context: CommandContext,
  { operation, variables, done, watch, isKeyed, isEnd }: Action,
): Promise<ExitCode> {
  const { client, output, isJson, command } = context;
  const accepted = await askAgain(context, () => client.ask(operation, variables), { isKeyed });
  if (watch) return followToEnd(context, accepted.requestId, { isPatient: isEnd });
  if (isJson) output.printJson(accepted, { isIndented: true });
  else {
    output.print([`${accepted.requestId}: ${done(accepted)}`]);
    if (!OVER.has(accepted.status)) {
      output.note([`To follow it:  ${command("watch", accepted.requestId)}`]);
    }
  }
  return EXIT.OK;
}
