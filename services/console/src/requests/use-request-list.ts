import type { Operation, VariablesOf } from "@planwright/client";
import { useCallback, useEffect, useRef, useState } from "react";
import { FOLLOW_REQUESTS, READ_REQUESTS, type RequestRow } from "../data/list-operations.ts";
import { type ApiProblem, problemOf, useClient } from "../data/use-api.ts";
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

/** Shortest time between two reads, in milliseconds: many requests may change at once. */
const READ_EVERY_MS = 1_000;

/**
 * The answer to a query about all requests; null before the first. The query is sent again after each event
 * of the feed of all requests. That feed is shared, so this needs no additional connection.
 */
export function useFedRead<Result>(operation: Operation<Result, Record<string, never>>): Result | null {
  const client = useClient();
  const [result, setResult] = useState<Result | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const isReadPending = useRef(false);
  useEffect(() => () => clearTimeout(timer.current), []);

  function read(): void {
    if (timer.current !== undefined) {
      isReadPending.current = true;
      return;
    }
    isReadPending.current = false;
    timer.current = setTimeout(() => {
      timer.current = undefined;
      if (isReadPending.current) read();
    }, READ_EVERY_MS);
    client.execute(operation, {}).then(setResult, () => {
      // The list of requests shows the problem; the last answer stays, and the next event reads again.
    });
  }
  useStream(FOLLOW_REQUESTS, { filter: {} }, { onResult: read, onProblem: read });
  return result;
}
