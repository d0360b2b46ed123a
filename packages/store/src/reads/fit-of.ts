/**
 * Decides whether a request matches a filter, from documents in memory: the same result as the list of
 * requests, without a query.
 */

import type { VersionFacts } from "../records/document-heads.ts";
import type { RequestDocument } from "../records/request-document.ts";
import type { RequestFilter } from "./read-store.ts";

/**
 * `fits`: the list contains the request. `left`: it does not, but may have contained it before. `never`: it
 * does not and never did, because the fields that differ never change.
 */
export type Fit = "fits" | "left" | "never";

/** True when {@link fitOf} needs the versions of the plan. */
export function asksForVersions({ tool, errorCode, needs }: RequestFilter): boolean {
  return tool !== undefined || errorCode !== undefined || (needs !== undefined && needs !== "answer");
}

/**
 * Whether a request matches a filter. Pure.
 * @param versions - all versions of its plan; may be empty when {@link asksForVersions} is false
 */
export function fitOf(
  filter: RequestFilter,
  request: RequestDocument,
  versions: readonly VersionFacts[],
): Fit {
  if (!matchesFixedFields(filter, request)) return "never";
  const users = versions.filter(({ tools }) => filter.tool === undefined || tools.includes(filter.tool));
  // Versions are only added, and removed only with their request.
  if (filter.tool !== undefined && users.length === 0) return "never";
  return hasStatus(filter, request) && hasVersion(filter, request, users) ? "fits" : "left";
}

/** Checks the fields that are fixed when a request is accepted. */
function matchesFixedFields(
  { tag, text, createdFrom, createdBefore }: RequestFilter,
  request: RequestDocument,
): boolean {
  const { tags = [], query, createdAt } = request;
  if (tag !== undefined && !tags.includes(tag)) return false;
  if (createdFrom && createdAt < createdFrom) return false;
  if (createdBefore && createdAt >= createdBefore) return false;
  return text === undefined || (query !== null && patternOf(text, "iu").test(query));
}

/** Matches texts that contain this text in any case. Special characters are escaped. */
export function patternOf(text: string, flags: "i" | "iu"): RegExp {
  return new RegExp(text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`), flags);
}

function hasStatus({ status, needs }: RequestFilter, request: RequestDocument): boolean {
  if (needs === "answer" && request.status !== "NEEDS_INPUT") return false;
  return status === undefined || status.length === 0 || status.includes(request.status);
}

/** @param users - versions that use the tool of the filter */
function hasVersion(
  filter: RequestFilter,
  request: RequestDocument,
  users: readonly VersionFacts[],
): boolean {
  const { tool, errorCode } = filter;
  const need = filter.needs === "answer" ? undefined : filter.needs;
  if (!asksForVersions(filter)) return true;
  const isWanted = (version: VersionFacts): boolean =>
    (errorCode === undefined || version.errorCode === errorCode) &&
    (need === undefined || version.needs.includes(need));
  if (users.some(isWanted)) return true;
  // A request whose planning failed has the error itself.
  return tool === undefined && need === undefined && request.error?.code === errorCode;
}
