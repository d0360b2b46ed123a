import { type Client, createClient } from "graphql-ws";
import { onTestFinished } from "vitest";
import WebSocket from "ws";

/**
 * A client that follows over WebSocket and never reconnects; it is closed after its test.
 * @param url - the address of the API
 */
export function webSocketClient(
  url: string,
  options: {
    headers?: Record<string, string> | undefined;
    origin?: string | undefined;
    connectionParams?: Record<string, unknown> | undefined;
  } = {},
): Client {
  const { connectionParams, headers = {}, origin } = options;
  class Socket extends WebSocket {
    constructor(address: string, protocols: string[]) {
      super(address, protocols, { headers, ...(origin === undefined ? {} : { origin }) });
    }
  }
  const client = createClient({
    url: url.replace("http:", "ws:"),
    webSocketImpl: Socket,
    retryAttempts: 0,
    ...(connectionParams ? { connectionParams } : {}),
  });
  onTestFinished(() => void client.dispose());
  return client;
}
