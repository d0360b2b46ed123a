import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { isJsonObject, markNumbers, unmarkNumbers } from "@planwright/plan";
import { CloseCode, type Context, MessageType } from "graphql-ws";
import { type Extra, useServer } from "graphql-ws/use/ws";
import { type WebSocket, WebSocketServer } from "ws";
import { type Gate, type Presented, presentedBy } from "../access/gate.ts";
import { UnauthenticatedError } from "../errors/api-error.ts";
import type { ErrorFacts } from "../errors/format-error.ts";
import { isAllowedOrigin, refuseConnection } from "../http/http-server.ts";
import type { Subscriptions } from "./subscriptions.ts";

/** Dependencies of {@link serveWebSockets}. */
interface WebSocketDependencies {
  httpServers: readonly Server[];
  subscriptions: Subscriptions;
  gate: Pick<Gate, "recognize" | "admit">;
  /** Other origins whose pages may connect. */
  allowedOrigins: ReadonlySet<string>;
  /** Most connections at the same time. */
  maxConnections: number;
  /** Most connections of a tenant at the same time. */
  maxConnectionsOf: (tenant: string) => Promise<number>;
  /** How long a client may leave a ping unanswered, in milliseconds; then its connection is closed. */
  sendTimeoutMs: number;
}

/** Largest message from a client, in bytes. */
const MAX_MESSAGE_BYTES = 1_048_576;
/** Most subscriptions of one connection. */
const MAX_PER_CONNECTION = 100;

const ELSEWHERE: ErrorFacts = {
  code: "NOT_FOUND",
  message: "No WebSocket is served here",
  remedy: "Connect to /graphql with the protocol graphql-transport-ws.",
};
const FOREIGN_PAGE: ErrorFacts = {
  code: "FORBIDDEN",
  message: "Pages of this origin may not connect",
  remedy: "Ask the operator to add the origin to CORS_ORIGINS.",
};
const FULL: ErrorFacts = {
  code: "OVERLOADED",
  message: "This process has reached its limit of connections",
  remedy: "Connect again after retryAfterMs milliseconds.",
  retryAfterMs: 1_000,
};
/** Messages that only a server sends. graphql-ws accepts them from clients, and then prints a stack trace. */
const ANSWERS: ReadonlySet<unknown> = new Set([
  MessageType.ConnectionAck,
  MessageType.Next,
  MessageType.Error,
]);

/** Answers subscriptions of callers over WebSocket at /graphql, in the protocol graphql-transport-ws. */
export function serveWebSockets(dependencies: WebSocketDependencies): { close(): Promise<void> } {
  const { httpServers, subscriptions, gate, allowedOrigins, maxConnections, sendTimeoutMs } = dependencies;
  const admit = createConnectionLimit(dependencies.maxConnectionsOf);
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  });

  const protocol = useServer(
    {
      jsonMessageReviver: withoutAnswers,
      subscribe: subscriptions.subscribe,
      onConnect: (connection) => acceptConnection(gate, connection, admit),
      async onSubscribe(connection, _id, params) {
        if (Object.keys(connection.subscriptions).length > MAX_PER_CONNECTION) {
          connection.extra.socket.close(CloseCode.BadRequest, "Too many subscriptions on one connection");
          return [];
        }
        try {
          // Checked for each subscription: keys are revoked and tokens expire while connections stay open.
          const caller = await gate.admit(presentedByConnection(connection));
          return await subscriptions.prepare(caller, connection.extra.request.headers, params);
        } catch (error) {
          if (!(error instanceof Error)) throw error;
          return [subscriptions.shown(error)];
        }
      },
    },
    server,
    // The interval between pings, and also the time to wait for an answer.
    sendTimeoutMs / 2,
  );

  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const path = request.url?.split("?", 1)[0];
    if (path !== "/graphql") return refuseConnection(socket, 404, ELSEWHERE);
    if (!isAllowedOrigin(request, allowedOrigins)) return refuseConnection(socket, 403, FOREIGN_PAGE);
    if (server.clients.size >= maxConnections) return refuseConnection(socket, 503, FULL);
    server.handleUpgrade(request, socket, head, (client) => {
      keepTexts(client, subscriptions);
      server.emit("connection", client, request);
      // ws has closed the connection with a code for the reason; graphql-ws would only print the error of a
      // client.
      client.removeAllListeners("error").on("error", () => undefined);
    });
  };
  for (const httpServer of httpServers) httpServer.on("upgrade", upgrade);

  return {
    async close() {
      for (const httpServer of httpServers) httpServer.off("upgrade", upgrade);
      await protocol.dispose();
    },
  };
}

/** Counts the connections of each tenant, until they close; false for one more than it may have. */
function createConnectionLimit(
  maxOf: (tenant: string) => Promise<number>,
): (tenant: string, socket: WebSocket) => Promise<boolean> {
  const open = new Map<string, number>();
  return async (tenant, socket) => {
    const max = await maxOf(tenant);
    const count = open.get(tenant) ?? 0;
    if (count >= max) return false;
    // One that closed meanwhile will not tell.
    if (socket.readyState !== socket.OPEN) return true;
    open.set(tenant, count + 1);
    socket.once("close", () => {
      const rest = (open.get(tenant) ?? 1) - 1;
      if (rest > 0) open.set(tenant, rest);
      else open.delete(tenant);
    });
    return true;
  };
}

/**
 * The library reads and writes messages with JSON.parse and JSON.stringify, which know doubles only, and block the
 * process for large results.
 */
function keepTexts(client: WebSocket, { fill }: Pick<Subscriptions, "fill">): void {
  const emit = client.emit.bind(client);
  client.emit = (event: string | symbol, ...args: unknown[]) =>
    event === "message" ? emit(event, markNumbers(String(args[0])), ...args.slice(1)) : emit(event, ...args);
  const send = client.send.bind(client) as (data: unknown, ...rest: unknown[]) => void;
  client.send = (data: unknown, ...rest: unknown[]) =>
    send(typeof data === "string" ? fill(unmarkNumbers(data)) : data, ...rest);
}

/** A reviver for JSON.parse that refuses messages that only a server sends. */
function withoutAnswers(key: string, value: unknown): unknown {
  if (key === "" && isJsonObject(value) && ANSWERS.has(value["type"])) {
    throw new TypeError("Only a server sends this message");
  }
  return value;
}

/** One connection of a client. */
type Connection = Context<Record<string, unknown> | undefined, Extra>;

/** Close code of WebSocket: the service cannot serve the connection now. */
const TRY_AGAIN_LATER = 1013;

/**
 * The credential of a WebSocket client: the header of its first request, or `authorization` in the
 * `connectionParams`, because pages cannot set headers.
 */
function presentedByConnection({ extra, connectionParams }: Connection): Presented {
  const presented = presentedBy(extra.request);
  const params = new Map(
    Object.entries(connectionParams ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const authorization = presented.authorization ?? params.get("authorization");
  return {
    ...presented,
    // A value that is not text is an invalid credential, not a missing one.
    authorization: authorization === undefined || typeof authorization === "string" ? authorization : "",
  };
}

/**
 * True for a known caller; otherwise the connection is closed with 4401 and the code of the error, or with 1013
 * when its tenant has as many as it may have.
 * @param admit - counts a connection of a tenant; false: it gets no further one
 */
async function acceptConnection(
  gate: Pick<Gate, "recognize">,
  connection: Connection,
  admit: (tenant: string, socket: Connection["extra"]["socket"]) => Promise<boolean>,
): Promise<boolean> {
  const { socket } = connection.extra;
  try {
    const { tenant } = await gate.recognize(presentedByConnection(connection));
    if (await admit(tenant, socket)) return true;
    socket.close(TRY_AGAIN_LATER, "OVERLOADED: your tenant has no connection left (max-connections)");
    return false;
  } catch (error) {
    const isRefused = error instanceof UnauthenticatedError;
    socket.close(
      isRefused ? CloseCode.Unauthorized : TRY_AGAIN_LATER,
      isRefused ? `${error.code}: ${error.message}` : "UNAVAILABLE: try again later",
    );
    return false;
  }
}
