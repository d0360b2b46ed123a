/** The thread that does the jobs of `createLargeJson`, one after the other. */
import { parentPort } from "node:worker_threads";
import type { JobAnswer } from "@planwright/runtime";
import { type LargeJob, type LargeResult, performJob } from "./large-json-jobs.ts";

parentPort?.on("message", (job: LargeJob) => parentPort?.postMessage(...answerOf(job)));

function answerOf(job: LargeJob): [answer: JobAnswer<LargeResult>, transferred: ArrayBuffer[]] {
  try {
    const result = performJob(job);
    const written = "large" in result ? result.large : "bytes" in result ? result : undefined;
    return [{ result }, written ? [written.bytes.buffer] : []];
  } catch (error) {
    return [{ failure: error instanceof Error ? error.message : String(error) }, []];
  }
}
