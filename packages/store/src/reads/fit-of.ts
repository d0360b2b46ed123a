/**
 * Whether a request fits a filter, by what was read of it: the same answer as that of the list of requests,
 * without a question to MongoDB.
 */

import type { VersionFacts } from "../records/document-heads.ts";
import type { RequestDocument } from "../records/request-document.ts";
import type { RequestFilter } from "./read-store.ts";

/**
 * `fits`: the list holds it. `left`: the list does not, and may have done before. `never`: it does not, and
 * never did, for what would have to be different is fixed from the beginning.
 */
export type Fit = "fits" | "left" | "never";

/** True where the answer of {@link fitOf} needs the versions of the plan. */
export function asksForVersions({ tool, errorCode, needs }: RequestFilter): boolean {
  return tool !== undefined || errorCode !== undefined || (needs !== undefined && needs !== "answer");
}

/**
 * Where a request stands with a filter. Pure.
 * @param versions - all of its plan; none need be there where {@link asksForVersions} is false
 */
export function fitOf(
  filter: RequestFilter,
  request: RequestDocument,
  versions: readonly VersionFacts[],
): Fit {
  if (!isBornFitting(filter, request)) return "never";
  const users = versions.filter(({ tools }) => filter.tool === undefined || tools.includes(filter.tool));
  // Versions are added, and none goes before its request does.
  if (filter.tool !== undefined && users.length === 0) return "never";
  return hasStatus(filter, request) && hasVersion(filter, request, users) ? "fits" : "left";
}

/** What is fixed when a request is accepted. */
function isBornFitting(
  { tag, text, createdFrom, createdBefore }: RequestFilter,
  request: RequestDocument,
): boolean {
  const { tags = [], query, createdAt } = request;
  if (tag !== undefined && !tags.includes(tag)) return false;
  if (createdFrom && createdAt < createdFrom) return false;
  if (createdBefore && createdAt >= createdBefore) return false;
  return text === undefined || (query !== null && patternOf(text, "iu").test(query));
}

/** Contains the text, whatever the case of its letters. Nothing in it is an operator. */
export function patternOf(text: string, flags: "i" | "iu"): RegExp {
  return new RegExp(text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`), flags);
}

function hasStatus({ status, needs }: RequestFilter, request: RequestDocument): boolean {
  if (needs === "answer" && request.status !== "NEEDS_INPUT") return false;
  return status === undefined || status.length === 0 || status.includes(request.status);
}

/** @param users - versions that use the tool that is asked for */
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
  // A request whose planning failed has an error of its own.
  return tool === undefined && need === undefined && request.error?.code === errorCode;
}
