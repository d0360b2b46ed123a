import type { Ending } from "../cases/eval-case.ts";
import type { Grade } from "../grading/grade.ts";
import type { Played } from "./run-case.ts";

/** A case that was played and graded. */
export interface GradedCase {
  id: string;
  source: string;
  domain: string;
  wanted: Ending;
  played: Played;
  grade: Grade;
}
