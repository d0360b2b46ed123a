import { type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";

/** What {@link localFetch} understands of the options of `fetch`. */
interface LocalRequest {
  method?: string;
  headers?: Readonly<Record<string, string>>;
  body?: string;
  signal?: AbortSignal;
}

/**
 * `fetch` for the small answers of processes on this machine. `planwright up` holds its memory for as long as the system
 * runs: the first connection of Node's own `fetch` takes 14 MiB, most of it for a compiled parser. The answer is read as a
 * whole, and a redirect is an answer.
 * @throws what the connection failed with, or an AbortError
 */
export async function localFetch(url: string | URL, options: LocalRequest = {}): Promise<Response> {
  const { body, ...others } = options;
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, others, resolve).once("error", reject).end(body);
  });
  const { statusCode: status = 200, headersDistinct } = answer;
  const headers = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  return new Response(new Uint8Array(await buffer(answer)), { status, headers });
}
