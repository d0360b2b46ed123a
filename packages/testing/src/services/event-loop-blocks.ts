import { readFile, writeFile } from "node:fs/promises";

/** How long the event loop of a service was blocked. */
export interface EventLoopBlocks {
  /** For the environment of the service. */
  env: { BLOCKS_FILE: string; NODE_OPTIONS: string };
  /** Forgets the blocks until now. */
  start(): Promise<void>;
  /** The blocks since then that were longer than 10 ms, in milliseconds, longest first. */
  longestFirst(): Promise<number[]>;
}

/**
 * Watches the main thread of a service, which writes its blocks into a file. They are measured in processor time: a
 * busy machine suspends processes, which blocks every loop and says nothing about this one. Linux only.
 * @param file - where the blocks are written
 * @param everyMs - how often the loop is looked at
 */
export function watchEventLoop(file: string, everyMs: number): EventLoopBlocks {
  const watch = `
    import { appendFileSync, readFileSync } from "node:fs";
    import { isMainThread } from "node:worker_threads";
    const used = () => Number(readFileSync("/proc/self/task/" + process.pid + "/schedstat", "utf8").split(" ")[0]) / 1e6;
    let before = used();
    if (isMainThread) setInterval(() => {
      const now = used();
      if (now - before > 10) appendFileSync(process.env.BLOCKS_FILE, Math.round(now - before) + "\\n");
      before = now;
    }, ${everyMs}).unref();
  `;
  return {
    env: {
      BLOCKS_FILE: file,
      NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(watch)}"`,
    },
    start: () => writeFile(file, ""),
    async longestFirst() {
      const blocks = (await readFile(file, "utf8")).split("\n").map(Number);
      return blocks.toSorted((one, other) => other - one);
    },
  };
}
