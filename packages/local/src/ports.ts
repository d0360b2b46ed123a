import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Below the ports of outgoing connections (on Linux from 32768), so that no outgoing connection takes the
 * port before its process listens.
 */
const LOWEST = 20_000;
const HIGHEST = 32_767;
/** Most ports that are tried. */
const TRIES = 100;

/**
 * A TCP port on 127.0.0.1 that was free just before, chosen at random, so that two stacks rarely choose the
 * same.
 */
export async function freePort(): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    const port = randomInt(LOWEST, HIGHEST + 1);
    try {
      await listenOnce(port);
      return port;
    } catch (error) {
      const code = codeOf(error);
      if (tries === TRIES || (code !== "EADDRINUSE" && code !== "EACCES")) throw error;
    }
  }
}

/** The first of several TCP ports, one behind the other, that were free just before, and are none of these. */
export async function freePorts(count: number, taken: ReadonlySet<number> = new Set()): Promise<number> {
  for (;;) {
    const first = await freePort();
    const ports = Array.from({ length: count }, (_, index) => first + index);
    if (ports.some((port) => taken.has(port))) continue;
    const areFree = await Promise.all(ports.map(isPortFree));
    if (areFree.every(Boolean)) return first;
  }
}

async function listenOnce(port: number): Promise<void> {
  const server = createServer();
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  server.close();
  await once(server, "close");
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

/**
 * True when nothing listens on a port of 127.0.0.1 right now.
 * @throws {Error} the system's error when this user may not listen on it, whether it is free or not
 */
export async function isPortFree(port: number): Promise<boolean> {
  try {
    await listenOnce(port);
    return true;
  } catch (error) {
    if (codeOf(error) === "EADDRINUSE") return false;
    throw error;
  }
}
