import { ApiRefusedError, sendAgain } from "@planwright/client";
import { InterruptedError, UsageError } from "../errors.ts";
import type { CommandContext } from "./command-context.ts";

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
