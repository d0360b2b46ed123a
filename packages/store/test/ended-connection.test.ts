import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { createConnection, createServer, type Socket } from "node:net";
import { testServers } from "@planwright/testing";
import { MongoNetworkError } from "mongodb";
import { expect, onTestFinished, test } from "vitest";
import { createMongoClient } from "../src/database/mongo-client.ts";

/** Forwards connections to a server. @returns its address, and what ends a connection as a process does that exits */
async function startEndingProxy(url: string) {
  const inners = new Set<Socket>();
  const server = createServer((inner) => {
    const outer = createConnection({ port: Number(new URL(url).port), host: "127.0.0.1" });
    inner.pipe(outer).pipe(inner);
    for (const socket of [inner, outer]) socket.on("error", () => undefined);
    inners.add(inner);
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("no port");
  return {
    port: address.port,
    url: `mongodb://127.0.0.1:${address.port}/?directConnection=true`,
    /** @param client - the client's socket */
    end: ({ localPort }: Socket) => [...inners].find(({ remotePort }) => remotePort === localPort)?.end(),
  };
}

/** The sockets that this process opens from now on. */
function watchSockets(): Socket[] {
  const sockets: Socket[] = [];
  const add = (message: unknown) => void sockets.push((message as { socket: Socket }).socket);
  subscribe("net.client.socket", add);
  onTestFinished(() => void unsubscribe("net.client.socket", add));
  return sockets;
}

test("an operation that starts between the end of its connection and the event close fails, and does not wait for ever", async () => {
  const { mongodbUrl } = testServers();
  const proxy = await startEndingProxy(mongodbUrl);
  const sockets = watchSockets();
  // One socket to watch the server, and one for operations.
  const options = { maxPoolSize: 1, serverMonitoringMode: "poll", retryWrites: false } as const;
  const client = createMongoClient(proxy.url, options);
  onTestFinished(() => client.close());
  const things = client.db(new URL(mongodbUrl).pathname.slice(1)).collection<{ _id: number }>("things");
  await things.insertOne({ _id: 1 });
  const [, socket, ...others] = sockets.filter(({ remotePort }) => remotePort === proxy.port);
  if (!socket || others.length > 0) throw new TypeError("it is unknown which socket the operations have");

  let isClosed = false;
  socket.once("close", () => (isClosed = true));
  // Node destroys a socket at its end, and says so after the functions of setImmediate.
  const inserted = new Promise<unknown>((resolve) => {
    socket.once("end", () =>
      setImmediate(() => {
        const isBetween = socket.destroyed && !isClosed;
        resolve(isBetween ? things.insertOne({ _id: 2 }).catch((error: unknown) => error) : "too late");
      }),
    );
  });
  proxy.end(socket);
  expect(await inserted).toBeInstanceOf(MongoNetworkError);
  expect(await things.insertOne({ _id: 3 })).toMatchObject({ acknowledged: true });
});
