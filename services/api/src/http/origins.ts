import type { IncomingMessage } from "node:http";

/**
 * False for requests from pages of another origin: programs send no Origin, and our own pages send the origin
 * of this service.
 * @param allowed - further origins, such as "https://ops.example.org"
 */
export function isAllowedOrigin({ headers }: IncomingMessage, allowed: ReadonlySet<string>): boolean {
  const { origin, host } = headers;
  if (origin === undefined || allowed.has(origin)) return true;
  return URL.canParse(origin) && new URL(origin).host === host;
}
