import { Agent, request } from "node:http";
import { createClient } from "graphql-ws";
import { WebSocket } from "ws";
import { operation } from "../../client/bench-client.ts";

/** The subscription of every client, with enough fields to draw the plan. */
export const FOLLOW = `subscription ($id: ID!) {
  requestUpdated(requestId: $id) { status plan { status counts { completed } steps { id status } } }
}`;

/** A subscriber of a request; it receives each state as text. */
export interface Subscriber {
  ended: Promise<void>;
  leave(): void;
}

/** Opens a subscription over a separate connection. */
export type Subscribe = (url: string, requestId: string, onState: (text: string) => void) => Subscriber;

/** Over server-sent events. */
export const subscribeToEvents: Subscribe = (url, requestId, onState) => {
  const body = operation(FOLLOW, { id: requestId });
  const agent = new Agent();
  const call = request(`${url}/stream`, {
    method: "POST",
    agent,
    headers: { "content-type": "application/json", accept: "text/event-stream" },
  });
  const ended = new Promise<void>((resolve, reject) => {
    call.once("error", reject);
    call.once("response", (response) => {
      let rest = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        const events = (rest + chunk).split("\n\n");
        rest = events.pop() ?? "";
        for (const event of events) if (event.startsWith("event: next")) onState(event);
      });
      response.once("end", resolve);
    });
  });
  call.end(body);
  return { ended, leave: () => void call.destroy() };
};

/** Over WebSocket. */
export const subscribeToSocket: Subscribe = (url, requestId, onState) => {
  const client = createClient({
    url: url.replace(/^http/, "ws"),
    webSocketImpl: WebSocket,
    retryAttempts: 0,
  });
  const ended = new Promise<void>((resolve, reject) => {
    client.subscribe(
      { query: FOLLOW, variables: { id: requestId } },
      { next: (result) => onState(JSON.stringify(result)), error: reject, complete: resolve },
    );
  });
  return { ended, leave: () => void client.dispose() };
};
