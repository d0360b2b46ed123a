import { useEffect, useRef, useState } from "react";
import { type ApiProblem, problemOf } from "../data/api-problem.ts";
import { useClient } from "../data/client-context.ts";
import { type Moment, READ_MOMENT, toMoment } from "../data/shown-plan.ts";

/** Wait before a moment is read, in milliseconds: a slider passes many on its way. */
const SETTLE_MS = 80;

/** Moments that are kept. An entry of the journal never changes. */
const KEPT = 40;

/** A request at an earlier moment. */
export interface ReadMoment {
  /** The last one that was read, until the wanted one comes; null for now. */
  moment: Moment | null;
  problem: ApiProblem | null;
}

/**
 * A request as it was at one entry of its journal.
 * @param seq - null: now, and nothing is read
 */
export function useMoment(requestId: string, seq: number | null): ReadMoment {
  const client = useClient();
  const kept = useRef(new Map<number, Moment>());
  const [read, setRead] = useState<ReadMoment>({ moment: null, problem: null });

  useEffect(() => {
    if (seq === null) return;
    const known = kept.current.get(seq);
    if (known) {
      setRead({ moment: known, problem: null });
      return;
    }
    const left = new AbortController();
    const timer = setTimeout(() => {
      client.execute(READ_MOMENT, { requestId, seq }, { signal: left.signal }).then(
        ({ requestAt }) => {
          const moment = toMoment(requestAt);
          // A seq above the last entry gives the state of now, which does change.
          if (moment.seq === seq) keep(kept.current, seq, moment);
          setRead({ moment, problem: null });
        },
        (error: unknown) => left.signal.aborted || setRead({ moment: null, problem: problemOf(error) }),
      );
    }, SETTLE_MS);
    return () => {
      clearTimeout(timer);
      left.abort();
    };
  }, [client, requestId, seq]);
  return seq === null ? { moment: null, problem: null } : read;
}

function keep(moments: Map<number, Moment>, seq: number, moment: Moment): void {
  moments.set(seq, moment);
  const [oldest] = moments.keys();
  if (moments.size > KEPT && oldest !== undefined) moments.delete(oldest);
}
