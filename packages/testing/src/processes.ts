import { type ChildProcess, spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { inject, vi } from "vitest";
import { z } from "zod";
import { askOnDemand, requestOnDemand } from "./ask-on-demand.ts";
import type { BundledService } from "./bundles.ts";
import type { OnDemand } from "./offer-on-demand.ts";

/**
 * Code that runs before the service and ends it when its parent process has ended, so that a killed test run
 * leaves no processes.
 */
const END_WITH_PARENT = `data:text/javascript,${encodeURIComponent(`
  import cluster from "node:cluster";
  const parent = cluster.isWorker ? process.ppid : ${process.pid};
  const look = () => process.ppid !== parent && process.kill(process.pid, "SIGKILL");
  setInterval(look, 500).unref();
`)}`;

/**
 * Starts a service as a separate process, from the sources as they were when the first test asked for it. The
 * caller has to end it.
 *
 * @param env - its complete environment, apart from PATH
 * @param args - of its command line
 * @returns the process; both outputs are pipes that must be read
 */
export function spawnService(
  service: BundledService,
  env: Record<string, string>,
  args: readonly string[] = [],
): ChildProcess {
  return spawn(process.execPath, ["--import", END_WITH_PARENT, bundledServices(service)[service], ...args], {
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

declare module "vitest" {
  export interface ProvidedContext {
    planwrightServices: Record<BundledService, OnDemand>;
    planwrightProgram: OnDemand;
  }
}

/**
 * The arguments for Node that start services. The first call of a test run for a service bundles its sources as
 * they are then.
 */
export function bundledServices<Name extends BundledService>(
  ...names: readonly Name[]
): Record<Name, string> {
  const offers = inject("planwrightServices");
  for (const name of names) requestOnDemand(offers[name]);
  const bundled = names.map((name) => [name, askOnDemand(offers[name], z.string())] as const);
  return Object.fromEntries(bundled) as Record<Name, string>;
}

/** The folder of the package of the command `planwright`, bundled by the first call of this test run. */
export function bundledProgram(): string {
  return askOnDemand(inject("planwrightProgram"), z.string());
}

/** One block of an event loop, in milliseconds. */
export interface EventLoopBlock {
  ms: number;
  /** Of them, V8's garbage collection. */
  gcMs: number;
  /** Pages of memory that the thread used for the first time. In a virtual machine each may take 20 µs. */
  pageFaults: number;
}

/** How long the event loop of a service was blocked. */
export interface EventLoopBlocks {
  /** For the environment of the service. */
  env: { BLOCKS_FILE: string; NODE_OPTIONS: string };
  /** Forgets the blocks until now. */
  start(): Promise<void>;
  /** The blocks since then that were longer than 10 ms, longest first. */
  longestFirst(): Promise<EventLoopBlock[]>;
}

/**
 * Watches the main thread of a service, which writes its blocks into a file. They are measured in processor time: a
 * busy machine suspends processes, which blocks every loop and says nothing about this one. Linux only.
 * @param file - where the blocks are written
 * @param everyMs - how often the loop is looked at
 */
export function watchEventLoop(file: string, everyMs: number): EventLoopBlocks {
  // A collection is told after the block that it was in, so a block is written when the loop is looked at again.
  const watch = `
    import { appendFileSync, readFileSync } from "node:fs";
    import { PerformanceObserver, performance } from "node:perf_hooks";
    import { isMainThread } from "node:worker_threads";
    const ofThread = (name) => readFileSync("/proc/self/task/" + process.pid + "/" + name, "utf8");
    const used = () => Number(ofThread("schedstat").split(" ")[0]) / 1e6;
    const faults = () => Number(ofThread("stat").split(") ")[1].split(" ")[7]);
    const look = () => ({ used: used(), at: performance.now(), faults: faults() });
    let before = look();
    let block;
    let collections = [];
    if (isMainThread) {
      new PerformanceObserver((list) => collections.push(...list.getEntries())).observe({ entryTypes: ["gc"] });
      setInterval(() => {
        const now = look();
        if (block) {
          const gc = collections.filter(({ startTime }) => startTime >= block.from && startTime < block.to);
          const gcMs = Math.min(block.ms, gc.reduce((sum, { duration }) => sum + duration, 0));
          const told = { ms: Math.round(block.ms), gcMs: Math.round(gcMs), pageFaults: block.pageFaults };
          appendFileSync(process.env.BLOCKS_FILE, JSON.stringify(told) + "\\n");
        }
        const ms = now.used - before.used;
        const pageFaults = now.faults - before.faults;
        block = ms > 10 ? { ms, from: before.at, to: now.at, pageFaults } : undefined;
        if (!block) collections = [];
        before = now;
      }, ${everyMs}).unref();
    }
  `;
  return {
    env: {
      BLOCKS_FILE: file,
      NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(watch)}"`,
    },
    start: () => writeFile(file, ""),
    async longestFirst() {
      const lines = (await readFile(file, "utf8")).split("\n").filter(Boolean);
      const blocks = lines.map((line): EventLoopBlock => JSON.parse(line));
      return blocks.toSorted((one, other) => other.ms - one.ms);
    },
  };
}

/** Reads until the value is truthy and returns it. Rejects after a minute, and at once when reading fails. */
export function eventually<T>(read: () => Promise<T | null | undefined>) {
  return vi.waitUntil(read, { timeout: 60_000, interval: 5 });
}
