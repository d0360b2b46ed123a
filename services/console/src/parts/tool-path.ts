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
