import { type Agent, request } from "node:http";

/** Options of {@link send}. */
export interface SendOptions {
  agent: Agent;
  headers?: Record<string, string>;
  /** Closes the connection when no answer came within this time, in milliseconds. Default: never. */
  timeoutMs?: number;
}

/** What the server answered. */
export interface Sent {
  /** HTTP status; "none" when the connection broke, "late" after the timeout. */
  status: string;
  /** Size of the answer. */
  bytes: number;
  /** `retry-after` of the answer, in milliseconds; undefined without that header. */
  retryAfterMs: number | undefined;
}

/** Sends an operation. The bytes of its answer are counted and dropped. */
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
