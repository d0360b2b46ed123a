import { once } from "node:events";
import { createServer } from "node:net";

/** A TCP port on 127.0.0.1 that was free a moment ago. Chosen by the kernel, so two stacks rarely meet. */
export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new TypeError("A TCP server has a port");
  return address.port;
}
