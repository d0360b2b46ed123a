import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import type { RangeReport } from "./seed-worker.ts";

/** Number of seeds that a worker simulates at a time. */
const RANGE = 50;
/** Number of failures after which the run stops: more of them show nothing new. */
const MAX_FAILURES = 5;
/** Most objects of a simulation live for only one event. A large young generation avoids copying them. */
const WORKER_OPTIONS = ["--max-semi-space-size=64"];

/** Simulates seeds in one process for each core; stops early after some failures. */
export async function runSeeds({ from, count }: { from: number; count: number }): Promise<RangeReport> {
  const total: RangeReport = { seeds: 0, events: 0, simulatedMs: 0, failures: [] };
  let next = from;

  async function work(worker: ChildProcess): Promise<void> {
    while (next < from + count && total.failures.length < MAX_FAILURES) {
      const range = { from: next, to: Math.min(next + RANGE, from + count) };
      next = range.to;
      worker.send(range);
      const report = await answerOf(worker, range);
      total.seeds += report.seeds;
      total.events += report.events;
      total.simulatedMs += report.simulatedMs;
      total.failures.push(...report.failures);
    }
    worker.disconnect();
  }

  const file = fileURLToPath(new URL("seed-worker.ts", import.meta.url));
  const workers = Array.from({ length: Math.min(availableParallelism(), Math.ceil(count / RANGE)) }, () =>
    fork(file, { execArgv: [...process.execArgv, ...WORKER_OPTIONS], serialization: "advanced" }),
  );
  try {
    await Promise.all(workers.map(work));
  } finally {
    for (const worker of workers) worker.kill();
  }
  total.failures.sort((a, b) => a.seed - b.seed);
  return total;
}

/** @throws {WorkerDiedError} */
async function answerOf(worker: ChildProcess, range: { from: number; to: number }): Promise<RangeReport> {
  const answered = new AbortController();
  const { signal } = answered;
  const died = once(worker, "exit", { signal }).then((): never => {
    throw new WorkerDiedError(range);
  });
  // Prevents an unhandled rejection: the wait is aborted when the answer comes first.
  died.catch(() => undefined);
  const [report] = await Promise.race([once(worker, "message", { signal }), died]);
  answered.abort();
  return report;
}

/** A worker process ended during a range: one of its seeds threw an error that nothing caught. */
class WorkerDiedError extends TypeError {
  constructor({ from, to }: { from: number; to: number }) {
    super(`A worker process ended within the seeds ${from} to ${to - 1}; replay them one by one with --seed`);
  }
}
