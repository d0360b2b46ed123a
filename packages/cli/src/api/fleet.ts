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

/** The workers of the service, and what waits for them. */
export type FleetRecord = ResultOf<typeof FLEET>;

export const READ_FLEET = graphql(`{ fleet { ...Fleet } }`, [FLEET]);
