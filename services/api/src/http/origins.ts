import type { IncomingMessage } from "node:http";

/**
 * True unless a browser asks on behalf of a page from elsewhere: programs send no Origin, our own pages send that of this
 * service.
 * @param allowed - further origins, such as "https://ops.example.org"
 */
export function isAllowedOrigin({ headers }: IncomingMessage, allowed: ReadonlySet<string>): boolean {
  const { origin, host } = headers;
  if (origin === undefined || allowed.has(origin)) return true;
  return URL.canParse(origin) && new URL(origin).host === host;
}
