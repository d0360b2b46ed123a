import { type OpenQuestion, printPlace } from "@planwright/plan";
import type { GivenAnswer } from "@planwright/store";

/** Fields of OpenQuestion: null for a question of a model that names no argument. */
export const openQuestionResolvers = {
  stepId: ({ about }: OpenQuestion) => about?.stepId ?? null,
  tool: ({ about }: OpenQuestion) => about?.tool ?? null,
  parameter: ({ about }: OpenQuestion) => (about ? printPlace(about.keys) : null),
  schema: ({ about }: OpenQuestion) => about?.schema ?? null,
};

/** Fields of Answer. */
export const answerResolvers = {
  stepId: ({ gives }: GivenAnswer) => gives?.stepId ?? null,
  parameter: ({ gives }: GivenAnswer) => (gives ? printPlace(gives.keys) : null),
  value: ({ gives }: GivenAnswer) => gives?.value ?? null,
};
