import { startTcpProxy, type TcpProxy } from "./tcp-proxy.ts";

/** A way to a server that can be cut. */
export interface ServerProxy extends TcpProxy {
  /** The server's address, by way of this proxy. */
  readonly url: string;
}

/** Hands connections on to a MongoDB or a Redis on 127.0.0.1. @param url - the server's own address */
export async function startServerProxy(url: string): Promise<ServerProxy> {
  const proxied = new URL(url);
  const proxy = await startTcpProxy(Number(proxied.port));
  proxied.host = `127.0.0.1:${proxy.port}`;
  // Otherwise the driver uses the address that the replica set reports, without the proxy.
  if (proxied.protocol === "mongodb:") proxied.search = "directConnection=true";
  return { ...proxy, url: proxied.href };
}
