import type { Call, Outcome } from "../state/protocol.ts";
import type { Clock } from "./clock.ts";
import { outcomeOfThrown, outcomeOfValue } from "./outcome.ts";

/** Makes a call of a tool: returns a value or an MCP result, or throws. */
export type CallTool = (call: Call, options: { signal: AbortSignal }) => unknown;

/** A call under way. */
export interface RunningCall {
  /** Stops it: the tool sees its signal, and after the grace period its answer is not waited for any more. */
  abort(): void;
}

/** How long a stopped call may take to say so, in milliseconds. */
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
    try {
      finish(outcomeOfValue(await callTool(call, { signal: controller.signal })));
    } catch (error) {
      finish(wasAborted ? { type: "aborted" } : outcomeOfThrown(error));
    }
  }
}

/** It is unknown whether the tool acted. */
function lost(code: string, message: string): Outcome {
  return { type: "failed", error: { code, message, retryable: true }, effect: "unknown" };
}
