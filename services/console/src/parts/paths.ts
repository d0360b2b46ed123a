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

/** The address of the catalogue, or of one tool in it. */
export function toolPath(name: string | null): string {
  return name === null ? "/tools" : `/tools/${encodeURIComponent(name)}`;
}

/**
 * The tool that an address of the catalogue names; null if it names none; undefined for an address of another
 * page.
 */
export function toolPlaceOf(path: string): string | null | undefined {
  const found = /^\/tools(?:\/([^/]+))?\/?$/u.exec(path);
  if (!found) return undefined;
  try {
    return found[1] === undefined ? null : decodeURIComponent(found[1]);
  } catch {
    return undefined;
  }
}
