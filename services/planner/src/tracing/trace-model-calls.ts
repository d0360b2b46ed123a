import type { PlanningStore } from "@planwright/store";
import type { PlanningTraces } from "./planning-traces.ts";

type CallStore = Pick<PlanningStore, "beginModelCall" | "endModelCall">;

/** The same store, with a span for each model call that begins. Without traces it is the given store. */
export function traceModelCalls<Store extends CallStore>(
  store: Store,
  traces: PlanningTraces | undefined,
): Store {
  if (!traces) return store;
  const openSpans = new Map<string, ReturnType<PlanningTraces["calling"]>>();
  const traced: CallStore = {
    async beginModelCall(claim, call) {
      const begun = await store.beginModelCall(claim, call);
      if (begun.type === "open") openSpans.set(begun.callId, traces.calling(claim, call));
      return begun;
    },
    endModelCall(callId, end) {
      openSpans.get(callId)?.ended(end);
      openSpans.delete(callId);
      return store.endModelCall(callId, end);
    },
  };
  return { ...store, ...traced };
}
