import type { Given } from "@planwright/client";
import { ENDED, sendAgain } from "@planwright/client";
import type { Accepted, Change } from "../api/mutations.ts";
import { EXIT, type ExitCode } from "../report/exit-code.ts";
import type { CommandContext } from "./command-context.ts";
import { followToEnd } from "./follow-to-end.ts";

/** Something done to a request. */
export interface Action<Variables> {
  operation: Change<Variables>;
  variables: Given<Variables>;
  /** The line that is printed once the API has accepted it. */
  done: (accepted: Accepted) => string;
  /** True follows the request afterwards. */
  watch?: boolean | undefined;
  /** True for an operation with an idempotency key: sent again it changes nothing more. Default false. */
  isKeyed?: boolean | undefined;
  /**
   * True for an operation that ends the plan: it is followed to its end, whatever it waits for. Default
   * false.
   */
  isEnd?: boolean | undefined;
}

/**
 * Asks for a change of a request, and prints that it was accepted, or follows the request.
 * @throws {ApiRefusedError} where the API changed nothing
 */
export async function act<Variables>(
  context: CommandContext,
  { operation, variables, done, watch, isKeyed, isEnd }: Action<Variables>,
): Promise<ExitCode> {
  const { client, output, isJson, command, signal } = context;
  const { accepted } = await sendAgain(() => client.execute(operation, variables), { signal, isKeyed });
  if (watch) return followToEnd(context, accepted.requestId, { until: isEnd ? "end" : "rest" });
  if (isJson) output.printJson(accepted, { isIndented: true });
  else {
    output.print([`${accepted.requestId}: ${done(accepted)}`]);
    if (!ENDED.has(accepted.status)) {
      output.note([`To follow it:  ${command("watch", accepted.requestId)}`]);
    }
  }
  return EXIT.OK;
}
