import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { makeDataFolder } from "./make-data-folder.ts";

/**
 * Locks a data folder for this process, and makes it if it is absent; undefined when another running process
 * has it. The lock is a listening socket, not a file with a process id, so that it is free as soon as its
 * holder ends for any reason.
 * @throws {DataFolderError} when it is no folder, or may not be written
 */
export async function holdFolder(folder: string): Promise<{ release(): void } | undefined> {
  const absolute = resolve(folder);
  makeDataFolder(absolute);
  const name = createHash("sha256").update(absolute).digest("hex").slice(0, 16);
  const path =
    process.platform === "win32"
      ? `\\\\.\\pipe\\planwright-${name}`
      : join(tmpdir(), `planwright-${name}.sock`);
  if (await isHeld(path)) return undefined;
  if (existsSync(path)) rmSync(path); // left by a holder that has ended
  const server = createServer((socket) => socket.destroy());
  server.unref();
  server.listen(path);
  try {
    await once(server, "listening");
  } catch {
    return undefined; // another process was faster
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
