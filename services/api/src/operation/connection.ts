import type { Page } from "@planwright/store";
import { BadInputError } from "../errors/api-error.ts";

/** Arguments of a page. */
export interface PageArguments {
  first: number;
  after?: string | null;
}

/** A page in the form of a Relay connection. */
export interface Connection<T> {
  edges: { cursor: string; node: T }[];
  nodes: T[];
  pageInfo: {
    hasNextPage: boolean;
    hasPreviousPage: boolean;
    startCursor: string | null;
    endCursor: string | null;
  };
}

/** Largest page. */
export const MAX_PAGE = 100;
const MAX_CURSOR_LENGTH = 200;

/** @param what - plural noun for errors, such as "requests" @throws {BadInputError} */
export function parsePage({ first, after }: PageArguments, what: string) {
  if (first < 1 || first > MAX_PAGE) {
    throw new BadInputError(
      "first",
      `A page of ${first} ${what} is not allowed`,
      `Ask for 1 to ${MAX_PAGE}.`,
    );
  }
  if (after && after.length > MAX_CURSOR_LENGTH) {
    throw new BadInputError("after", "Not a known cursor", "Use pageInfo.endCursor, or leave it out.");
  }
  return { first, after: after ?? undefined };
}

/** @param page - from the store; its cursor may be after the last item when more items follow */
export function toConnection<T>({ items, cursor }: Page<T>, cursorOf: (node: T) => string): Connection<T> {
  const edges = items.map((node) => ({ cursor: cursorOf(node), node }));
  return {
    edges,
    nodes: items,
    pageInfo: {
      hasNextPage: cursor !== null,
      hasPreviousPage: false,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: cursor ?? edges.at(-1)?.cursor ?? null,
    },
  };
}
