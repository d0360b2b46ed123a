import {
  type AnswerBytes,
  createAnswerBytes,
  createByteBudget,
  createPace,
} from "../src/load/answer-bytes.ts";

/** Measures an answer with the default limits of the service. */
export function answerBytes(): AnswerBytes {
  const budget = createByteBudget({ maxBytes: 134_217_728 });
  const limits = { maxBytes: 8_388_608, inlineBytes: 65_536, budget, pace: createPace() };
  return createAnswerBytes(limits, { tenant: "default" });
}
