import type { RequestStatus } from "@planwright/plan";
import { REQUEST_LOOK } from "../design/statuses.ts";
import type { RequestFilter } from "./use-request-list.ts";

/** The decisions that a list can be filtered by. */
export const NEEDS = ["APPROVAL", "DOUBT", "ANSWER"] as const;

/**
 * The filter of a list in the address: `?status=FAILED&text=alice&needs=APPROVAL`. Unreadable parts are
 * ignored.
 */
export function filterOf(search: URLSearchParams): RequestFilter {
  const statuses = search
    .getAll("status")
    .filter((status): status is RequestStatus => Object.hasOwn(REQUEST_LOOK, status));
  const needs = NEEDS.find((need) => need === search.get("needs"));
  const named = (name: string) => search.get(name)?.trim() || undefined;
  const filter: RequestFilter = {};
  if (statuses.length > 0) filter.status = statuses;
  if (needs) filter.needs = needs;
  const text = named("text");
  if (text) filter.text = text.slice(0, 200);
  const tag = named("tag");
  if (tag) filter.tag = tag;
  const tool = named("tool");
  if (tool) filter.tool = tool;
  const errorCode = named("errorCode");
  if (errorCode) filter.errorCode = errorCode;
  return filter;
}

/** The address with one part of the filter changed; an empty value removes the part. */
export function withPart(search: URLSearchParams, name: string, value: string): string {
  const next = new URLSearchParams(search);
  next.delete(name);
  if (value !== "") next.set(name, value);
  const text = next.toString();
  return text === "" ? "/" : `/?${text}`;
}
