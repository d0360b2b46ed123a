import { CodedError } from "../diagnostics/coded-error.ts";

/** Steps or calls wait for each other, and the policy is `onCycle: "error"`. */
export class DependencyCycleError extends CodedError<{ cycle: readonly string[] }> {
  readonly code = "DEPENDENCY_CYCLE";
  readonly retryable = false;
  /** @param cycle - ids, each waiting for the next and the last for the first */
  constructor(cycle: readonly string[]) {
    const shown = cycle.length > 20 ? [...cycle.slice(0, 20), "..."] : cycle;
    super(`These wait for each other: ${[...shown, ...cycle.slice(0, 1)].join(" -> ")}`, { cycle });
  }
}

/** A call waits for a tool or a call that does not exist, and the policy does not allow that. */
export class DependencyAbsentError extends CodedError<{
  callId: string;
  dependency: string;
  kind: "tool" | "call";
}> {
  readonly code = "DEPENDENCY_ABSENT";
  readonly retryable = false;
  constructor(facts: { callId: string; dependency: string; kind: "tool" | "call" }) {
    const missing =
      facts.kind === "tool"
        ? `tool ${facts.dependency}, which is not called`
        : `call ${facts.dependency}, which does not exist`;
    super(`Call ${facts.callId} waits for ${missing}`, facts);
  }
}
