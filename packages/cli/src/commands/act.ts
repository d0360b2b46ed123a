import { ApiRefusedError, ENDED, type Given, sendAgain } from "@planwright/client";
import type { Accepted, ChangeOperation } from "../operations.ts";
import { EXIT, type ExitCode, InterruptedError, UsageError } from "../report/exit-code.ts";
import type { CommandContext } from "./command-context.ts";
import { followToEnd } from "./follow-to-end.ts";

/** A change of a request. */
interface Action<Variables> {
  operation: ChangeOperation<Variables>;
  variables: Given<Variables>;
  /** The line to print once the API has accepted the change. */
  done: (accepted: Accepted) => string;
  /** True follows the request afterwards. */
  watch?: boolean | undefined;
  /** True for an operation with an idempotency key: it can be sent again safely. Default false. */
  isKeyed?: boolean | undefined;
  /** For an operation that may repeat effects: ids of steps that may be called once more. */
  repeat?: readonly string[] | undefined;
  /**
   * True for an operation that ends the plan: the request is followed to its end, also while it waits for a
   * person. Default false.
   */
  isEnd?: boolean | undefined;
}

/**
 * Sends a change of a request, and prints that it was accepted, or follows the request.
 * @throws {ApiRefusedError} when the API changed nothing
 */
export async function act<Variables>(
  context: CommandContext,
  { operation, variables, done, watch, isKeyed, isEnd, repeat }: Action<Variables>,
): Promise<ExitCode> {
  const { client, output, isJson, command, signal } = context;
  const { accepted } = repeat
    ? await acceptingRepeats(context, repeat, (acceptRepeat) =>
        client.execute(operation, { ...variables, acceptRepeat }),
      )
    : await sendAgain(() => client.execute(operation, variables), { signal, isKeyed });
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

/** Asks on the terminal. @throws {UsageError} for a no. @throws {InterruptedError} */
export async function confirmed({ signal }: Pick<CommandContext, "signal">, message: string): Promise<void> {
  const { confirm, isCancel } = await import("@clack/prompts");
  const isSure = await confirm({ message, initialValue: false, signal });
  signal.throwIfAborted();
  if (isCancel(isSure)) throw new InterruptedError("SIGINT");
  if (!isSure) throw new UsageError("Nothing was changed");
}

/**
 * Sends a change that may repeat effects. When it is refused for that, the steps are listed and the user is asked;
 * a command that cannot ask fails with the refusal, which names `--repeat`.
 * @param send - with the ids of the steps that may be called once more
 */
export async function acceptingRepeats<Result>(
  context: CommandContext,
  given: readonly string[],
  send: (acceptRepeat: string[]) => Promise<Result>,
): Promise<Result> {
  const { signal, canAsk, output } = context;
  const accepted = new Set(given);
  for (;;) {
    try {
      return await sendAgain(() => send([...accepted]), { signal, isKeyed: true });
    } catch (error) {
      const isRepeat = error instanceof ApiRefusedError && error.facts.code === "REPEAT_NOT_ACCEPTED";
      const ids = isRepeat ? error.fact("acceptRepeat") : [];
      const steps = (Array.isArray(ids) ? ids : []).map(String).filter((id) => !accepted.has(id));
      if (!isRepeat || !canAsk || steps.length === 0) throw error;
      output.print([error.message]);
      await confirmed(context, `Call ${steps.join(", ")} once more?`);
      for (const id of steps) accepted.add(id);
    }
  }
}
