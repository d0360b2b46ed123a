export { type OpenDraft } from "./model-answer/open-draft.ts";
export {
  type ModelAnswer,
  type ReadModelAnswerOptions,
  readModelAnswer,
} from "./model-answer/read-model-answer.ts";
export { type FoundMoments, findMoments } from "./moment/find-moments.ts";
export { type MomentReading, nowText, readingText, type SaidMoment } from "./moment/moment.ts";
export {
  type BoundAnswer,
  type BoundAnswers,
  bindTexts,
  bindValues,
  type UnfitAnswer,
} from "./questions/bind-answers.ts";
export { type DraftWithGaps, fillGaps } from "./questions/draft-with-gaps.ts";
export { checkAnswer, MAX_ANSWER_LENGTH, type ReadAnswer } from "./questions/read-answer.ts";
export { type Gap, toFreeQuestions, toQuestions } from "./questions/to-questions.ts";
