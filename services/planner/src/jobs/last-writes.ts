import type { PlanningClaim, PlanningStore } from "@planwright/store";

/** Writes that end the work on a claim, and its lease with it. */
type LastWriteStore = Pick<
  PlanningStore,
  "completePlanning" | "failPlanning" | "completeReplan" | "failReplan" | "completeAnswer" | "failAnswer"
>;

/** A store whose last writes are known while they are under way. */
export interface LastWrites<Store> {
  store: Store;
  /** The claim's last write has begun: that its lease is gone says nothing from then on. The write itself says whether it was in time. */
  haveBegun: (claim: PlanningClaim) => boolean;
}

/** Puts an eye on the last writes of a store; they stay as they are. */
export function watchLastWrites<Store extends LastWriteStore>(store: Store): LastWrites<Store> {
  const begun = new WeakSet<PlanningClaim>();
  const noting =
    <More extends unknown[], Result>(write: (claim: PlanningClaim, ...more: More) => Promise<Result>) =>
    (claim: PlanningClaim, ...more: More): Promise<Result> => {
      begun.add(claim);
      return write(claim, ...more);
    };
  const watched: LastWriteStore = {
    completePlanning: noting(store.completePlanning.bind(store)),
    failPlanning: noting(store.failPlanning.bind(store)),
    completeReplan: noting(store.completeReplan.bind(store)),
    failReplan: noting(store.failReplan.bind(store)),
    completeAnswer: noting(store.completeAnswer.bind(store)),
    failAnswer: noting(store.failAnswer.bind(store)),
  };
  return { store: { ...store, ...watched }, haveBegun: (claim) => begun.has(claim) };
}
