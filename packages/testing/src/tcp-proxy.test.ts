import { once } from "node:events";
import { createConnection, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startTcpProxy, type TcpProxy } from "./test-servers.ts";

let echo: Server;
let proxy: TcpProxy;
let clients: Socket[];

beforeEach(async () => {
  clients = [];
  echo = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.pipe(socket);
  });
  echo.listen(0, "127.0.0.1");
  await once(echo, "listening");
  const address = echo.address();
  proxy = await startTcpProxy(typeof address === "object" && address !== null ? address.port : 0);
});

afterEach(async () => {
  for (const client of clients) client.destroy();
  await proxy.close();
  echo.close();
});

function dial(): Socket {
  const socket = createConnection(proxy.port, "127.0.0.1");
  clients.push(socket);
  socket.on("error", () => undefined);
  return socket;
}

async function connect(): Promise<Socket> {
  const socket = dial();
  await once(socket, "connect");
  return socket;
}

/** Waits for any kind of close: for the client a cut is an error. */
const closed = (socket: Socket) => new Promise<void>((resolve) => socket.once("close", () => resolve()));

async function answerTo(socket: Socket, words: string): Promise<string> {
  socket.write(words);
  const [data] = await once(socket, "data");
  return String(data);
}

test("passes any number of bytes in both directions", async () => {
  const socket = await connect();
  expect(await answerTo(socket, "hello")).toBe("hello");
  const size = 4 * 1_048_576;
  let received = 0;
  const all = new Promise<void>((resolve) => {
    socket.on("data", (data) => {
      received += data.length;
      if (received === size) resolve();
    });
  });
  socket.write(Buffer.alloc(size));
  await all;
  expect(received).toBe(size);
});

test("a cut ends connections and refuses new ones until it is mended", async () => {
  const socket = await connect();
  await answerTo(socket, "hello");
  proxy.cut();
  await closed(socket);
  await closed(dial());
  proxy.mend();
  expect(await answerTo(await connect(), "again")).toBe("again");
});

test("a frozen connection delivers its data after it is mended, and so do new connections", async () => {
  const socket = await connect();
  await answerTo(socket, "hello");
  proxy.freeze();
  const late = await connect();
  const received: string[] = [];
  for (const each of [socket, late]) each.on("data", (data) => received.push(String(data)));
  socket.write("first");
  late.write("second");
  const other = await startTcpProxy(proxy.port); // a round trip on another path, in which the data would have arrived
  const probe = createConnection(other.port, "127.0.0.1");
  await once(probe, "connect");
  probe.destroy();
  await other.close();
  expect(received).toEqual([]);
  const both = Promise.all([once(socket, "data"), once(late, "data")]);
  proxy.mend();
  await both;
  expect(received.toSorted()).toEqual(["first", "second"]);
});
