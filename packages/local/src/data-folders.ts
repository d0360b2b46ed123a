import { createHash } from "node:crypto";
import { once } from "node:events";
import { accessSync, constants, existsSync, mkdirSync, rmSync, statSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { DataFolderError } from "./errors.ts";

/** Systems cut the path of a socket at 104 or 108 bytes without a word: two folders would share one lock. */
const MAX_SOCKET_PATH_BYTES = 103;

/**
 * Locks a data folder for this process, and makes it if it is absent; undefined when another running process
 * has it. The lock is a listening socket, not a file with a process id, so that it is free as soon as its
 * holder ends for any reason.
 * @throws {DataFolderError} when it is no folder, or may not be written; also for the folder of the socket
 */
export async function holdFolder(folder: string): Promise<{ release(): void } | undefined> {
  const absolute = resolve(folder);
  makeDataFolder(absolute);
  const name = createHash("sha256").update(absolute).digest("hex").slice(0, 16);
  const path =
    process.platform === "win32"
      ? `\\\\.\\pipe\\planwright-${name}`
      : join(tmpdir(), `planwright-${name}.sock`);
  if (Buffer.byteLength(path) > MAX_SOCKET_PATH_BYTES)
    throw new DataFolderError(tmpdir(), "its path is too long", "TMPDIR");
  try {
    // One at a time: what looks like the socket of an ended holder may be that of one which was just faster.
    return await inTurn(join(tmpdir(), `planwright-${name}.turn`), () => holdSocket(path));
  } catch (error) {
    throw new DataFolderError(tmpdir(), error, "TMPDIR");
  }
}

async function holdSocket(path: string): Promise<{ release(): void } | undefined> {
  if (await isHeld(path)) return undefined;
  const server = createServer((socket) => socket.destroy());
  server.unref();
  if (existsSync(path)) rmSync(path); // left by a holder that has ended
  server.listen(path);
  await once(server, "listening");
  return { release: () => void server.close() };
}

/** A turn takes milliseconds: an older mark was left by a process that was killed in its turn. */
const TURN_MS = 5_000;
const BETWEEN_TRIES_MS = 10;

/** Takes turns with other processes: the one that could make the folder `mark` has its turn. */
async function inTurn<Result>(mark: string, take: () => Promise<Result>): Promise<Result> {
  while (!makeMark(mark)) {
    const madeAt = statSync(mark, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    // Also one of the future: the clock was set back.
    if (Math.abs(Date.now() - madeAt) > TURN_MS) rmSync(mark, { recursive: true, force: true });
    else await delay(BETWEEN_TRIES_MS);
  }
  try {
    return await take();
  } finally {
    rmSync(mark, { recursive: true, force: true });
  }
}

function makeMark(mark: string): boolean {
  try {
    mkdirSync(mark);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
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

/**
 * Makes a folder with its parents. One that exists is left as it is. The `recursive` of Node is not used: where
 * the system answers "no such file" although the parent exists, as below /proc, it tries for ever.
 * @throws {Error} the system's error
 */
export function makeFolder(folder: string): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
    const isParentMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    if (!isParentMissing || existsSync(dirname(folder))) throw error;
    makeFolder(dirname(folder));
    makeFolder(folder);
  }
}

/**
 * Makes a folder for data and logs if it is absent.
 * @param folder - absolute path
 * @throws {DataFolderError} when it is no folder, or may not be written
 */
export function makeDataFolder(folder: string): void {
  try {
    makeFolder(folder);
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw new DataFolderError(folder, error);
  }
}
