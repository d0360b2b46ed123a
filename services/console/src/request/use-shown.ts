import type { PlanRun, ResultOf } from "@planwright/client";
import { useEffect, useRef, useState } from "react";
import {
  READ_MOMENT,
  READ_PLAN,
  READ_VERSIONS,
  type RequestPage,
  type Versions,
} from "../data/request-operations.ts";
import { type ApiProblem, problemOf, useClient, useRead } from "../data/use-api.ts";
import type { RequestPlace } from "./paths.ts";

/** The part of a request that is shown. */
export interface Shown {
  plan: PlanRun | null;
  /** The version of the plan. */
  version: number;
  versions: Versions;
  /** True for the current version at the current moment. */
  isNow: boolean;
  /** The shown moment, in milliseconds; null: now. */
  atMs: number | null;
  problem: ApiProblem | null;
}

/**
 * The shown plan: the current one, which is followed, an earlier version, or the plan of an earlier moment.
 */
export function useShown(request: RequestPage | null, { requestId, version, at }: RequestPlace): Shown {
  const { versions, plan: chosen, problem } = useVersion(request, version);
  const { moment, problem: momentProblem } = useMoment(requestId, at);
  if (at !== null)
    return {
      plan: moment?.plan ?? null,
      version: moment?.plan?.version ?? request?.version ?? 1,
      versions,
      isNow: false,
      atMs: moment?.at ? Date.parse(moment.at) : null,
      problem: momentProblem,
    };
  const isNow = version === null || version === request?.version;
  const plan = isNow ? (request?.plan ?? null) : chosen;
  return { plan, version: version ?? request?.version ?? 1, versions, isNow, atMs: null, problem };
}

/** The versions of a request, and the plan of an earlier one. It never changes, so it is read once. */
function useVersion(request: RequestPage | null, version: number | null) {
  const isCurrent = version === null || version === request?.version;
  const hasOthers = (request?.version ?? 1) > 1;
  const list = useRead(
    READ_VERSIONS,
    request && hasOthers ? { requestId: request.requestId } : null,
    `${request?.version} ${request?.plan?.status}`,
  );
  const versions = list.data?.request?.plansConnection.nodes ?? [];
  const planId = versions.find((other) => other.version === version)?.planId;
  const { data, problem } = useRead(READ_PLAN, isCurrent || planId === undefined ? null : { planId });
  return { plan: data?.plan ?? null, versions, problem: list.problem ?? problem };
}

/** Wait before a moment is read, in milliseconds: a moving slider passes many. */
const SETTLE_MS = 80;

/** Most cached moments. An entry of the journal never changes. */
const CACHE_SIZE = 40;

type Moment = NonNullable<ResultOf<typeof READ_MOMENT>["request"]>;

/** The result of reading an earlier moment. */
interface ReadMoment {
  /** The last moment that was read, until the wanted one arrives; null for now. */
  moment: Moment | null;
  problem: ApiProblem | null;
}

/**
 * A request as it was at one entry of its journal.
 * @param seq - null: now, and nothing is read
 */
function useMoment(requestId: string, seq: number | null): ReadMoment {
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
        ({ request: moment }) => {
          if (!moment) return;
          // A seq after the last entry returns the current state, which can change.
          if (moment.seq === seq) addToCache(cache.current, seq, moment);
          setRead({ moment, problem: null });
        },
        (error: unknown) =>
          controller.signal.aborted || setRead({ moment: null, problem: problemOf(error, "read") }),
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
