import { digitsOf, mapExact } from "@planwright/plan";
import type { Call, Outcome } from "../state/protocol.ts";
import type { Clock } from "./clock.ts";
import { outcomeOfThrown, outcomeOfValue } from "./outcome.ts";

/**
 * Makes a call of a tool: returns a value or an MCP result, or throws. A number that a double would change is
 * the text of its digits in the arguments, because JavaScript has no such number.
 */
export type CallTool = (call: Call, options: { signal: AbortSignal }) => unknown;

/** A running call. */
export interface RunningCall {
  /**
   * Aborts the call: the tool's signal is aborted, and after the grace period the call ends without its
   * answer.
   */
  abort(): void;
}

/** Grace period of an aborted call, in milliseconds. */
const ABORT_GRACE_MS = 5_000;

/** Makes one call with its timeout. `done` is called exactly once. */
export function makeCall(parts: {
  call: Call;
  callTool: CallTool;
  clock: Clock;
  done: (outcome: Outcome) => void;
}): RunningCall {
  const { call, callTool, clock } = parts;
  const controller = new AbortController();
  let hasEnded = false;
  let wasAborted = false;
  let stopWaiting = () => {};
  const finish = (outcome: Outcome) => {
    if (hasEnded) return;
    hasEnded = true;
    stopWaiting();
    parts.done(outcome);
  };
  stopWaiting = clock.at(clock.now() + call.timeoutMs, () => {
    finish(lost("TOOL_TIMEOUT", `${call.tool} gave no answer within ${call.timeoutMs} ms`));
    controller.abort();
  });
  void run();
  return {
    abort() {
      if (hasEnded || wasAborted) return;
      wasAborted = true;
      stopWaiting();
      stopWaiting = clock.at(clock.now() + ABORT_GRACE_MS, () =>
        finish(lost("CANCELLED", `${call.tool} did not stop within ${ABORT_GRACE_MS} ms`)),
      );
      controller.abort();
    },
  };

  async function run(): Promise<void> {
    const args = mapExact(call.arguments, digitsOf);
    try {
      finish(outcomeOfValue(await callTool({ ...call, arguments: args }, { signal: controller.signal })));
    } catch (error) {
      finish(wasAborted ? { type: "aborted" } : outcomeOfThrown(error));
    }
  }
}

/** An outcome with unknown effect. */
function lost(code: string, message: string): Outcome {
  return { type: "failed", error: { code, message, retryable: true }, effect: "unknown" };
}
