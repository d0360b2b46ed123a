import { Agent, request } from "node:http";
import { text } from "node:stream/consumers";
import { CodedError } from "@planwright/plan";

/** The server answered with an error, so the figures of the run mean nothing. */
export class UnexpectedAnswerError extends CodedError<{ status: number; text: string }> {
  readonly code = "UNEXPECTED_ANSWER";
  readonly retryable = false;
  constructor(facts: { status: number; text: string }) {
    super(`The server answered ${facts.status}: ${facts.text.slice(0, 500)}`, facts);
  }
}

/** Sends operations to a server over connections that are kept open. */
export interface BenchClient {
  /**
   * @returns the answer as text. It is not parsed, so that parsing is not measured.
   * @throws {UnexpectedAnswerError} for any error
   */
  send(body: string): Promise<string>;
  close(): void;
}

/**
 * Shorter than 5 s, after which a Node server closes an idle connection. A call that is sent at that moment
 * would be lost.
 */
const MAX_IDLE_MS = 3_000;

/** @param connections - maximum, one for each concurrent call */
export function createBenchClient(url: string, connections: number): BenchClient {
  const agent = new Agent({
    keepAlive: true,
    timeout: MAX_IDLE_MS,
    maxSockets: connections,
    maxFreeSockets: connections,
  });
  return {
    async send(body) {
      const call = request(url, {
        method: "POST",
        agent,
        headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body) },
      });
      call.end(body);
      const answer = await new Promise<{ status: number; text: string }>((resolve, reject) => {
        call.once("error", reject);
        call.once("response", (response) => {
          text(response).then((read) => resolve({ status: response.statusCode ?? 0, text: read }), reject);
        });
      });
      if (answer.status !== 200 || answer.text.startsWith('{"errors"'))
        throw new UnexpectedAnswerError(answer);
      return answer.text;
    },
    close: () => agent.destroy(),
  };
}

/** The body of a request with this operation. */
export const operation = (query: string, variables: object): string => JSON.stringify({ query, variables });
