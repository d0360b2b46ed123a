import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A way to a server that can be cut. */
export interface ServerProxy {
  /** The server's address, by way of this proxy. */
  url: string;
  /** Breaks all connections off and takes no more. */
  cut(): void;
  /** Takes connections again. */
  heal(): void;
  close(): Promise<void>;
}

/** Hands connections on to a MongoDB or a Redis until it is cut. @param url - the server's own address */
export async function startServerProxy(url: string): Promise<ServerProxy> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((client) => {
    if (isCut) return void client.destroy();
    const upstream = connect(Number(target.port), target.hostname);
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const proxied = new URL(url);
  proxied.host = `127.0.0.1:${port}`;
  // Or the replica set tells its own address, past the proxy.
  if (proxied.protocol === "mongodb:") proxied.search = "directConnection=true";
  const breakOff = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: proxied.href,
    cut() {
      isCut = true;
      breakOff();
    },
    heal() {
      isCut = false;
    },
    async close() {
      const closed = once(server, "close");
      server.close();
      breakOff();
      await closed;
    },
  };
}
