import { createHash } from "node:crypto";
import { once } from "node:events";
import { accessSync, constants, existsSync, mkdirSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { DataFolderError } from "../errors.ts";

/**
 * Locks a data folder, which is made when absent, for this process; undefined when another running process has it. The lock is a
 * listening socket, not a file with a process id, so that it is free as soon as its holder ends for any
 * reason.
 * @throws {DataFolderError} when it is no folder, or may not be written
 */
export async function holdFolder(folder: string): Promise<{ release(): void } | undefined> {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw new DataFolderError(resolve(folder), error);
  }
  const name = createHash("sha256").update(resolve(folder)).digest("hex").slice(0, 16);
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
