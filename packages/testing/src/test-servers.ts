import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createConnection, createServer, type Socket } from "node:net";
import { inject } from "vitest";
import { z } from "zod";
import { askOnDemand } from "./ask-on-demand.ts";
import { takeDatabase } from "./databases.ts";
import type { OnDemand } from "./offer-on-demand.ts";

/** Real servers for one test or one file of tests. No other test shares its database or keys. */
export interface TestServers {
  /** URL with the name of an empty database as its path. */
  mongodbUrl: string;
  redisUrl: string;
  /** A new prefix for all keys that a queue writes. */
  redisPrefix: string;
}

declare module "vitest" {
  export interface ProvidedContext {
    planwrightServers: OnDemand;
  }
}

const ServersSchema = z.object({ mongodbUrl: z.string(), redisUrl: z.string() });

/**
 * The MongoDB (replica set) and the Redis of this test run, with an empty database and a new key prefix for each call.
 * The first call of a run starts them and blocks for about a second.
 */
export function testServers(): TestServers {
  const { mongodbUrl, redisUrl } = askOnDemand(inject("planwrightServers"), ServersSchema);
  const url = new URL(mongodbUrl);
  url.pathname = `/${takeDatabase(mongodbUrl)}`;
  return { mongodbUrl: url.href, redisUrl, redisPrefix: `test_${randomBytes(8).toString("hex")}` };
}

/** A TCP proxy on loopback that can be cut and frozen. */
export interface TcpProxy {
  readonly port: number;
  /**
   * Ends all connections, and every new one when it arrives, until {@link mend}: in turns as a network does that
   * breaks (reset), and as a process does that exits (end of data).
   */
  cut(): void;
  /** Keeps connections and accepts new ones, but passes no data in either direction, until {@link mend}. */
  freeze(): void;
  /** Passes data again, also the data that arrived while it was frozen. */
  mend(): void;
  close(): Promise<void>;
}

/** Starts a proxy on a free port for a port of 127.0.0.1. */
export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  let state: "open" | "cut" | "frozen" = "open";
  const pairs = new Set<readonly [Socket, Socket]>();
  const server = createServer({ allowHalfOpen: false }, (inner) => {
    if (state === "cut") {
      inner.on("error", () => undefined);
      inner.resetAndDestroy();
      return;
    }
    const outer = createConnection({ port: targetPort, host: "127.0.0.1" });
    const pair = [inner, outer] as const;
    pairs.add(pair);
    inner.setNoDelay(true);
    outer.setNoDelay(true);
    for (const [socket, other] of [pair, [outer, inner] as const]) {
      socket.on("data", (data) => {
        if (!other.write(data)) socket.pause();
      });
      other.on("drain", () => {
        if (state !== "frozen") socket.resume();
      });
      socket.on("error", () => undefined); // "close" follows
      socket.on("close", () => {
        pairs.delete(pair);
        other.destroy();
      });
    }
    if (state === "frozen") pausePair(pair);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("A TCP server has a port");

  return {
    port: address.port,
    cut() {
      state = "cut";
      for (const [index, [inner, outer]] of [...pairs].entries()) {
        if (index % 2 === 0) inner.resetAndDestroy();
        else inner.end();
        outer.destroy();
      }
    },
    freeze() {
      state = "frozen";
      for (const pair of pairs) pausePair(pair);
    },
    mend() {
      state = "open";
      for (const pair of pairs) for (const socket of pair) socket.resume();
    },
    async close() {
      for (const pair of pairs) for (const socket of pair) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

function pausePair(pair: readonly [Socket, Socket]): void {
  for (const socket of pair) socket.pause();
}

/** A connection to a server that can be cut. */
export interface ServerProxy extends TcpProxy {
  /** The server's address through this proxy. */
  readonly url: string;
}

/** Forwards connections to a MongoDB or a Redis on 127.0.0.1. @param url - the server's address */
export async function startServerProxy(url: string): Promise<ServerProxy> {
  const proxied = new URL(url);
  const proxy = await startTcpProxy(Number(proxied.port));
  proxied.host = `127.0.0.1:${proxy.port}`;
  // Without directConnection the driver would use the address that the replica set reports, which is not the
  // proxy.
  if (proxied.protocol === "mongodb:") proxied.search = "directConnection=true";
  return { ...proxy, url: proxied.href };
}
