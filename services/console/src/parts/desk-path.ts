/** The address of the plan desk: empty, or with the plan of a request. */
export function deskPath(requestId?: string): string {
  return requestId === undefined ? "/desk" : `/desk/${encodeURIComponent(requestId)}`;
}

/**
 * The request that an address of the desk names; null for an empty desk; undefined for an address of another
 * page.
 */
export function deskPlaceOf(path: string): string | null | undefined {
  const found = /^\/desk(?:\/([^/]+))?\/?$/u.exec(path);
  if (!found) return undefined;
  try {
    return found[1] === undefined ? null : decodeURIComponent(found[1]);
  } catch {
    return undefined;
  }
}
