import { once } from "node:events";
import { createServer } from "node:net";

/** True when nothing listens on a port of 127.0.0.1 right now. */
export async function isPortFree(port: number): Promise<boolean> {
  const server = createServer();
  server.listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
}
