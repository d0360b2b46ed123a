import type { FailedRequest } from "../data/list-operations.ts";

/** Requests that failed with the same code. */
export interface FailureGroup {
  /** Null: some steps failed and the rest completed. */
  code: string | null;
  count: number;
  /** Number of them with calls that may have acted. */
  mayHaveActed: number;
  newest: FailedRequest;
}

/** Failed requests by their error code, the largest group first, then the newest. */
export function failureGroups(requests: readonly FailedRequest[]): FailureGroup[] {
  const groups = new Map<string | null, FailureGroup>();
  for (const request of requests) {
    const code = request.plan?.error?.code ?? request.error?.code ?? null;
    const acted = request.plan !== null && request.plan.mayHaveActed > 0 ? 1 : 0;
    const group = groups.get(code);
    if (!group) groups.set(code, { code, count: 1, mayHaveActed: acted, newest: request });
    else {
      group.count += 1;
      group.mayHaveActed += acted;
      if (request.updatedAt > group.newest.updatedAt) group.newest = request;
    }
  }
  return [...groups.values()].toSorted(
    (one, other) => other.count - one.count || (one.newest.updatedAt < other.newest.updatedAt ? 1 : -1),
  );
}
