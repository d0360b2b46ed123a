import { graphql, type ResultOf } from "@planwright/client";

const WAITING = graphql(`fragment Waiting on WaitingWork { due oldest { since ageMs requestId } }`);
const FLEET = graphql(
  `fragment Fleet on Fleet {
    at
    workers { name kind takesWork hasModel startedAt seenAt silentMs holds }
    lostWorkers { name kind startedAt seenAt deadAt leasesLost }
    plans { ...Waiting }
    requests { ...Waiting }
  }`,
  [WAITING],
);

const WORKLOAD = graphql(
  `fragment Workload on Workload { at since ended failed running waiting oldestWaiting { since ageMs requestId } }`,
);

/** The workers of the service, and the work that waits for them. */
export type FleetRecord = ResultOf<typeof FLEET>;
/** Counts of the caller's tenant: requests that run, wait, or ended recently. */
export type WorkloadRecord = ResultOf<typeof WORKLOAD>;

export const READ_FLEET = graphql(`{ fleet { ...Fleet } workload { ...Workload } }`, [FLEET, WORKLOAD]);

const COST = graphql(`
  fragment Cost on ModelCost {
    calls failures unended unpriced inputTokens cachedInputTokens outputTokens costUsd
  }
`);
/** Sums over model calls. */
export type CostRecord = ResultOf<typeof COST>;

/** What the model calls of the caller's tenant cost within a time. */
export const READ_COSTS = graphql(
  `query ($from: DateTime!, $before: DateTime) {
    costs: modelCosts(from: $from, before: $before) {
      from before isComplete
      total { ...Cost } models { model cost { ...Cost } } requests { requestId title cost { ...Cost } }
    }
  }`,
  [COST],
);
/** The same, as it is read. */
export type CostsRecord = ResultOf<typeof READ_COSTS>["costs"];
