import { once } from "node:events";
import { createServer } from "node:net";
import { createStore, StoreNotReachedError } from "@planwright/store";
import { expect, onTestFinished, test } from "vitest";

/** Listens on a free local port. @returns its address */
async function listenTo(onConnection: (socket: { destroy(): unknown }) => void): Promise<string> {
  const server = createServer(onConnection).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("no port");
  return `127.0.0.1:${address.port}`;
}

test("a database that refuses connections: the error has its host and what to check, and no password", async () => {
  const host = await listenTo((socket) => socket.destroy());
  const refused = createStore({ url: `mongodb://user:secret@${host}/x`, timeoutMs: 300 });
  await expect(refused).rejects.toBeInstanceOf(StoreNotReachedError);
  await expect(refused).rejects.toThrow(
    `MongoDB at ${host} does not answer within 0.3 s; check that it runs, and that MONGODB_URL names it`,
  );
});

test("a database that accepts connections and does not answer: the error has its host", async () => {
  const open: { destroy(): unknown }[] = [];
  onTestFinished(() => open.forEach((socket) => void socket.destroy()));
  const host = await listenTo((socket) => open.push(socket));
  await expect(createStore({ url: `mongodb://${host}/x`, timeoutMs: 300 })).rejects.toThrow(
    `MongoDB at ${host}`,
  );
});
