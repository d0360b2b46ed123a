/** The thread that makes named outputs of large outputs, one after the other. */
import { parentPort } from "node:worker_threads";
import type { JobAnswer } from "@planwright/runtime";
import { type LargePart, makeLargePart } from "./large-part.ts";

parentPort?.on("message", (part: LargePart) => {
  const [answer, moved] = answerOf(part);
  parentPort?.postMessage(answer, moved);
});

function answerOf(part: LargePart): [answer: JobAnswer<Uint8Array | null>, moved: ArrayBuffer[]] {
  try {
    const result = makeLargePart(part);
    return [{ result }, result ? [result.buffer] : []];
  } catch (error) {
    return [{ failure: error instanceof Error ? error.message : String(error) }, []];
  }
}
