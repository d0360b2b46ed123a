import type { Agent } from "undici";
import type { AddressGuard } from "./address-guard.ts";

/** Largest answer that is read, in bytes. */
const MAX_BYTES = 1_048_576;
const WITHOUT_BODY = new Set([204, 205, 304]);

/** Fetches a small document, like `fetch`. */
export type GuardedFetch = (url: string, init: RequestInit) => Promise<Response>;

/**
 * A `fetch` for documents of at most 1 MiB that connects only to addresses that the guard permits. Redirects
 * are returned as answers and not followed. No bodies are sent.
 * @throws {AddressForbiddenError} when the address is not permitted; undici's errors when there is no answer
 */
export function createGuardedFetch(guard: AddressGuard): GuardedFetch {
  let agent: Agent | undefined;
  return async (url, init) => {
    guard.check(new URL(url).hostname);
    // Loaded when needed: most services fetch nothing.
    const undici = await import("undici");
    agent ??= new undici.Agent({ connect: { lookup: guard.lookup }, maxResponseSize: MAX_BYTES });
    const { statusCode, headers, body } = await undici.request(url, {
      dispatcher: agent,
      method: "GET",
      headers: Object.fromEntries(new Headers(init.headers)),
      signal: init.signal ?? null,
    });
    const text = await body.text();
    const headerList = Object.entries(headers).flatMap(([name, value]) =>
      [value ?? []].flat().map((each): [string, string] => [name, each]),
    );
    return new Response(WITHOUT_BODY.has(statusCode) ? null : text, {
      status: statusCode,
      headers: headerList,
    });
  };
}
