/** The thread that makes named outputs of large outputs, one after the other. */
import { answerJobs } from "@planwright/runtime/job-threads";
import { makeLargePart } from "./large-part.ts";

answerJobs(makeLargePart, (part) => (part ? [part.buffer] : []));
