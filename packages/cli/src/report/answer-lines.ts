import type { RequestRecord } from "../api/request-record.ts";
import type { Style } from "../terminal/style.ts";
import { visibleText } from "../terminal/visible-text.ts";
import { problem } from "./format.ts";

/**
 * The results in words, or why there are none; empty if the caller did not ask for them or a model still
 * writes them. Pure.
 */
export function answerLines(
  { answer, answerError }: Pick<RequestRecord, "answer" | "answerError">,
  style: Style,
): string[] {
  if (answer !== null) {
    const lines = visibleText(answer).split("\n");
    return ["", style("strong", "Answer"), ...lines.map((line) => `  ${line}`)];
  }
  if (answerError === null) return [];
  return ["", `${style("strong", "No answer")}  ${style("attention", problem(answerError))}`];
}
