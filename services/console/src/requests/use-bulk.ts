import type { Client } from "@planwright/client";
import { useCallback, useState } from "react";
import { ACTED, acted } from "../data/acted.ts";
import { type ApiProblem, problemOf } from "../data/api-problem.ts";
import { useClient } from "../data/client-context.ts";
import {
  type BulkFacts,
  type BulkVariables,
  CANCEL_REQUESTS,
  RERUN_REQUESTS,
  RETRY_FAILED_REQUESTS,
} from "../data/list-operations.ts";
import type { BulkKind } from "./bulk-kinds.ts";
import type { RequestFilter } from "./use-request-list.ts";

/** A bulk action in two calls: a preview that changes nothing, and the change of the previewed requests. */
export function useBulk(kind: BulkKind, filter: RequestFilter) {
  const client = useClient();
  const [answer, setAnswer] = useState<BulkFacts | null>(null);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const [isPending, setIsPending] = useState(false);
  const key = JSON.stringify(filter);
  const send = useCallback(
    async (variables: BulkVariables) => {
      setIsPending(true);
      try {
        setAnswer(await SEND[kind](client, variables));
        setProblem(null);
        if (!variables.dryRun) acted.dispatchEvent(new Event(ACTED));
      } catch (error) {
        setProblem(problemOf(error));
      } finally {
        setIsPending(false);
      }
    },
    [client, kind],
  );
  return {
    answer,
    problem,
    isPending,
    preview: useCallback(
      (after: string | null) => send({ filter: JSON.parse(key) as RequestFilter, dryRun: true, after }),
      [send, key],
    ),
    change: (chosen: BulkFacts["results"]) =>
      send({
        requests: chosen.flatMap(({ requestId, version }) =>
          version === null ? [] : [{ requestId, version }],
        ),
        dryRun: false,
        idempotencyKey: crypto.randomUUID(),
      }),
  };
}

const SEND: Record<BulkKind, (client: Client, variables: BulkVariables) => Promise<BulkFacts>> = {
  async cancel(client, { idempotencyKey: _unused, ...variables }) {
    return (await client.execute(CANCEL_REQUESTS, variables)).cancelRequests;
  },
  async rerun(client, variables) {
    return (await client.execute(RERUN_REQUESTS, variables)).rerunRequests;
  },
  async retry(client, variables) {
    return (await client.execute(RETRY_FAILED_REQUESTS, variables)).retryFailedRequests;
  },
};
