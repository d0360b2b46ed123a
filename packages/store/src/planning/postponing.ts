import type { StoreDependencies } from "../journal/dependencies.ts";
import type { ModelWait } from "../records/request-document.ts";
import type { PlannerClaims } from "./planner-claims.ts";
import type { PlanningStore } from "./planning-store.ts";

/**
 * The part of the store that lets requests wait for a model that is away. The wait holds no lease: a planner
 * that dies meanwhile changes nothing, and any planner claims the request when it is due.
 */
export function createPostponing(
  { clock }: Pick<StoreDependencies, "clock">,
  claims: PlannerClaims,
): Pick<PlanningStore, "postponePlanning"> {
  return {
    postponePlanning: (claim, { error, pauseMs, requestedMs, unreachableMs }) =>
      claims.append<ModelWait | null>(claim, ({ planning: { away } }) => {
        const now = clock.now();
        const since = away?.since ?? new Date(now);
        const tries = (away?.tries ?? 0) + 1;
        const lastMs = since.getTime() + unreachableMs;
        // The last try is made when the time is over.
        if (now >= lastMs || now + requestedMs > lastMs) return { type: "nothing", done: null };
        const dueAt = new Date(Math.min(now + Math.max(pauseMs(tries), requestedMs), lastMs));
        const until = new Date(lastMs);
        const wait: ModelWait = { error, since, tries, nextAttemptAt: dueAt, until };
        const { request, epoch } = claim;
        // The planner has survived, so its claims are no sign that the request kills planners.
        const set = { lease: null, dueAt, claims: 0, "planning.wait": wait, updatedAt: new Date(now) };
        return {
          type: "append",
          events: [{ type: "planning.postponed", error, since, tries, dueAt, until }],
          following: () => [
            { collection: "requests", filter: { _id: request._id, "lease.epoch": epoch }, set },
          ],
          done: wait,
        };
      }),
  };
}
