import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/**
 * Takes a data folder for this process alone; undefined when another living process has it. Held by a
 * listening socket and not by a file with a number, so that it is free the moment its holder is gone, however
 * it went.
 */
export async function holdFolder(folder: string): Promise<{ release(): void } | undefined> {
  const name = createHash("sha256").update(resolve(folder)).digest("hex").slice(0, 16);
  const path =
    process.platform === "win32"
      ? `\\\\.\\pipe\\planwright-${name}`
      : join(tmpdir(), `planwright-${name}.sock`);
  if (await isHeld(path)) return undefined;
  if (existsSync(path)) rmSync(path); // left behind by a holder that is gone
  const server = createServer((socket) => socket.destroy());
  server.unref();
  server.listen(path);
  try {
    await once(server, "listening");
  } catch {
    return undefined; // someone was faster
  }
  return { release: () => void server.close() };
}

async function isHeld(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
