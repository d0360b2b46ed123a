import type { VariablesOf } from "@planwright/client";
import { useCallback, useEffect, useRef, useState } from "react";
import { type ApiProblem, problemOf } from "../data/api-problem.ts";
import { useClient } from "../data/client-context.ts";
import { FOLLOW_REQUESTS, READ_REQUESTS, type RequestRow } from "../data/needs-operations.ts";
import { useStream } from "../data/use-stream.ts";

/** The filter of a list of requests. */
export type RequestFilter = NonNullable<VariablesOf<typeof READ_REQUESTS>["filter"]>;

/** Requests on one page. */
const PAGE_SIZE = 50;

/** A list of requests that is kept current. */
export interface RequestList {
  /** Null before the first answer. */
  rows: readonly RequestRow[] | null;
  problem: ApiProblem | null;
  /** Reads the next page; null when there is none. */
  readMore: (() => void) | null;
}

/**
 * Follows the requests that match a filter. The list is read when the feed asks for it, which is its first
 * event, and then changed by the events of the feed. While the feed cannot be opened, the list is read at
 * each try.
 * @param isLive - false: the list is not updated
 */
export function useRequestList(filter: RequestFilter, isLive: boolean): RequestList {
  const client = useClient();
  const [rows, setRows] = useState<readonly RequestRow[] | null>(null);
  const [cursor, setCursor] = useState<string | null>(null);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const key = JSON.stringify(filter);
  /** The filter with which the rows were read. */
  const readKey = useRef<string | null>(null);

  const read = useCallback(
    async (after: string | null) => {
      try {
        const variables = { first: PAGE_SIZE, after, filter: JSON.parse(key) as RequestFilter };
        const { nodes, pageInfo } = (await client.execute(READ_REQUESTS, variables)).requests;
        setProblem(null);
        readKey.current = key;
        setRows((before) => withPage(after === null ? [] : (before ?? []), nodes));
        setCursor(pageInfo.hasNextPage ? pageInfo.endCursor : null);
      } catch (error) {
        setProblem(problemOf(error));
      }
    },
    [client, key],
  );
  const wasLive = useRef(isLive);
  useEffect(() => {
    if (isLive && !wasLive.current) void read(null);
    wasLive.current = isLive;
  }, [isLive, read]);
  useStream(
    FOLLOW_REQUESTS,
    { filter },
    {
      onProblem: (refused) => {
        setProblem(refused);
        if (refused.isTemporary) void read(null);
      },
      onResult: ({ requestsUpdated: { kind, requestId, request } }) => {
        if (!isLive && readKey.current === key) return;
        if (kind === "READ_LIST") void read(null);
        if (kind === "LEFT")
          setRows((before) => before?.filter((row) => row.requestId !== requestId) ?? before);
        if (kind === "CHANGED" && request) setRows((before) => withRow(before ?? [], request));
      },
    },
  );
  return { rows, problem, readMore: cursor === null ? null : () => void read(cursor) };
}

/** The list with the rows of a page, newest first; a row replaces its older state. */
export function withPage(rows: readonly RequestRow[], page: readonly RequestRow[]): readonly RequestRow[] {
  const ids = new Set(page.map(({ requestId }) => requestId));
  const others = rows.filter(({ requestId }) => !ids.has(requestId));
  return [...others, ...page].toSorted((one, other) =>
    one.createdAt === other.createdAt ? 0 : one.createdAt < other.createdAt ? 1 : -1,
  );
}

/** The list with a row, inserted by its time; it replaces its older state. */
export function withRow(rows: readonly RequestRow[], row: RequestRow): readonly RequestRow[] {
  const others = rows.filter(({ requestId }) => requestId !== row.requestId);
  const index = others.findIndex(({ createdAt }) => createdAt < row.createdAt);
  return index === -1 ? [...others, row] : others.toSpliced(index, 0, row);
}
