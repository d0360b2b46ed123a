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

/** The workers of the service, and what waits for them. */
export type FleetRecord = ResultOf<typeof FLEET>;
/** What the caller's tenant has running and waiting, and what ended lately. */
export type WorkloadRecord = ResultOf<typeof WORKLOAD>;

export const READ_FLEET = graphql(`{ fleet { ...Fleet } workload { ...Workload } }`, [FLEET, WORKLOAD]);
