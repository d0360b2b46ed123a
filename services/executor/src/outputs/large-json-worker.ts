/** The thread that does the jobs of `createLargeJson`, one after the other. */
import { answerJobs } from "@planwright/runtime/job-threads";
import { performJob } from "./large-json-jobs.ts";

answerJobs(performJob, (result) => {
  const written = "large" in result ? result.large : "bytes" in result ? result : undefined;
  return written ? [written.bytes.buffer] : [];
});
