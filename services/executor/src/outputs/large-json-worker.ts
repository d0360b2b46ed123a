/** The thread that does the jobs of `createLargeJson`, one after the other. */
import { parentPort } from "node:worker_threads";
import { type LargeJob, type LargeResult, performJob } from "./large-json-jobs.ts";

/** What the thread answers. */
export type JobAnswer = { result: LargeResult } | { failure: string };

parentPort?.on("message", (job: LargeJob) => parentPort?.postMessage(...answerOf(job)));

function answerOf(job: LargeJob): [answer: JobAnswer, transferred: ArrayBuffer[]] {
  try {
    const result = performJob(job);
    const written = "large" in result ? result.large : "bytes" in result ? result : undefined;
    return [{ result }, written ? [written.bytes.buffer] : []];
  } catch (error) {
    return [{ failure: error instanceof Error ? error.message : String(error) }, []];
  }
}
