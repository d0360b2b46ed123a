export {
  type ModelAnswer,
  type OpenDraft,
  type ReadModelAnswerOptions,
  readModelAnswer,
} from "./answer/read-model-answer.ts";
export { type FoundMoments, findMoments } from "./moment/find-moments.ts";
export { type MomentReading, nowText, readingText, type SaidMoment } from "./moment/moment.ts";
export {
  type BoundAnswer,
  type BoundAnswers,
  bindTexts,
  bindValues,
  checkAnswer,
  MAX_ANSWER_LENGTH,
  type ReadAnswer,
  type UnfitAnswer,
} from "./questions/read-answer.ts";
export {
  type DraftWithGaps,
  fillGaps,
  type Gap,
  toFreeQuestions,
  toQuestions,
} from "./questions/to-questions.ts";
