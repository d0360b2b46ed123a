import { once } from "node:events";
import { createServer } from "node:net";

/**
 * True when nothing listens on a port of 127.0.0.1 right now.
 * @throws {Error} the system's error when this user may not listen on it, whether it is free or not
 */
export async function isPortFree(port: number): Promise<boolean> {
  const server = createServer();
  server.listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") return false;
    throw error;
  }
  server.close();
  await once(server, "close");
  return true;
}
