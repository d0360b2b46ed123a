import { type Agent, request } from "node:http";

/** How a request is sent. */
export interface SendOptions {
  agent: Agent;
  headers?: Record<string, string>;
  /** Closes the connection when the answer is not there by then, in milliseconds. Default: never. */
  timeoutMs?: number;
}

/** What came back. */
export interface Sent {
  /** Of HTTP; "none" where the connection broke off, "late" after the timeout. */
  status: string;
  /** Size of the answer. */
  bytes: number;
  /** When the server says to try again, in milliseconds; undefined without that. */
  retryAfterMs: number | undefined;
}

/** Sends an operation; the bytes of its answer are dropped as they come. */
export function send(url: string, body: string, options: SendOptions): Promise<Sent> {
  const { agent, headers = {}, timeoutMs } = options;
  return new Promise((resolve) => {
    let bytes = 0;
    let retryAfterMs: number | undefined;
    const end = (status: string): void => {
      clearTimeout(timer);
      resolve({ status, bytes, retryAfterMs });
    };
    const call = request(url, {
      method: "POST",
      agent,
      headers: { ...headers, "content-type": "application/json", "content-length": Buffer.byteLength(body) },
    });
    const late = (): void => {
      end("late");
      call.destroy();
    };
    const timer = timeoutMs === undefined ? undefined : setTimeout(late, timeoutMs);
    call.once("error", () => end("none"));
    call.once("response", (response) => {
      const seconds = response.headers["retry-after"];
      retryAfterMs = seconds === undefined ? undefined : Number(seconds) * 1_000;
      response.on("data", (chunk: Buffer) => (bytes += chunk.length));
      response.once("error", () => end("none"));
      response.once("end", () => end(String(response.statusCode)));
    });
    call.end(body);
  });
}
