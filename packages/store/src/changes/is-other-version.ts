import type { RequestDocument } from "../records/request-document.ts";

/** True when a caller has looked at another version than the current one. @param seen - undefined: it does not say */
export function isOtherVersion(
  { version }: Pick<RequestDocument, "version">,
  seen: number | undefined,
): boolean {
  return seen !== undefined && seen !== version;
}
