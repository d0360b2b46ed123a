import { useEffect, useRef, useState } from "react";
import { type ApiProblem, problemOf } from "../data/api-problem.ts";
import { useClient } from "../data/client-context.ts";
import { type Moment, READ_MOMENT, toMoment } from "../data/shown-plan.ts";

/** Wait before a moment is read, in milliseconds: a moving slider passes many. */
const SETTLE_MS = 80;

/** Most cached moments. An entry of the journal never changes. */
const CACHE_SIZE = 40;

/** The result of reading an earlier moment. */
export interface ReadMoment {
  /** The last moment that was read, until the wanted one arrives; null for now. */
  moment: Moment | null;
  problem: ApiProblem | null;
}

/**
 * A request as it was at one entry of its journal.
 * @param seq - null: now, and nothing is read
 */
export function useMoment(requestId: string, seq: number | null): ReadMoment {
  const client = useClient();
  const cache = useRef(new Map<number, Moment>());
  const [read, setRead] = useState<ReadMoment>({ moment: null, problem: null });

  useEffect(() => {
    if (seq === null) return;
    const known = cache.current.get(seq);
    if (known) {
      setRead({ moment: known, problem: null });
      return;
    }
    const controller = new AbortController();
    const timer = setTimeout(() => {
      client.execute(READ_MOMENT, { requestId, seq }, { signal: controller.signal }).then(
        ({ requestAt }) => {
          const moment = toMoment(requestAt);
          // A seq after the last entry returns the current state, which can change.
          if (moment.seq === seq) addToCache(cache.current, seq, moment);
          setRead({ moment, problem: null });
        },
        (error: unknown) => controller.signal.aborted || setRead({ moment: null, problem: problemOf(error) }),
      );
    }, SETTLE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [client, requestId, seq]);
  return seq === null ? { moment: null, problem: null } : read;
}

function addToCache(moments: Map<number, Moment>, seq: number, moment: Moment): void {
  moments.set(seq, moment);
  const [oldest] = moments.keys();
  if (moments.size > CACHE_SIZE && oldest !== undefined) moments.delete(oldest);
}
