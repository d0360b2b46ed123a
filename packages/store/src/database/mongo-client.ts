import type { EventEmitter } from "node:events";
import { MongoClient, type MongoClientOptions, MongoNetworkError } from "mongodb";
// @ts-expect-error: the driver publishes no types of its files
import * as driver from "mongodb/lib/cmap/connection.js";

/** The driver's connection, which is not part of its API. */
type ConnectionClass = new (socket: EventEmitter, options: object) => object;
const { Connection } = driver as { Connection: ConnectionClass };

/**
 * A connection of which no operation waits for ever.
 *
 * The driver (7.8, 7.9) writes to a socket that Node has destroyed, if this happens between its end and its event
 * `close`, for example when a MongoDB was killed: `write` returns false, and the driver waits for `drain`, which
 * never comes, or for `error`, which does not come either, because the server ended the connection in order. Neither
 * `socketTimeoutMS` nor `timeoutMS` ends this wait. Here the event `close` ends it.
 */
class EndingConnection extends Connection {
  constructor(socket: EventEmitter, options: object) {
    super(socket, options);
    // After the driver's own listener, which has marked the connection as closed.
    socket.on("close", () => {
      if (socket.listenerCount("drain") > 0)
        socket.emit("error", new MongoNetworkError("the connection was closed before the command was sent"));
    });
  }
}

/** A client of MongoDB whose operations fail when their connection has ended. */
export function createMongoClient(url: string, options: MongoClientOptions): MongoClient {
  const withConnection: MongoClientOptions & { connectionType: ConnectionClass } = {
    ...options,
    connectionType: EndingConnection,
  };
  return new MongoClient(url, withConnection);
}
