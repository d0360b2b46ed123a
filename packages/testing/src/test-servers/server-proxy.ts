import { startTcpProxy, type TcpProxy } from "./tcp-proxy.ts";

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
