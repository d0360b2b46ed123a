import type { ModelCaller } from "./calls/model-ask.ts";
import { draftDirectly } from "./direct/draft-directly.ts";
import type { AnswerSchema } from "./draft/asked.ts";
import { NoToolsError } from "./draft/draft-error.ts";
import type { Drafter, DraftInput } from "./draft/drafter.ts";
import { isModelError } from "./draft/model-error.ts";
import { answerMessages } from "./prompts/answer-messages.ts";
import { answerSchema } from "./prompts/answer-schema.ts";
import { draftMessages } from "./prompts/draft-messages.ts";
import { planLanguage } from "./prompts/plan-language.ts";

/** A drafter that uses a chat model. */
export function createModelDrafter(caller: ModelCaller): Drafter {
  let takesTools = true;
  return {
    name: caller.name,
    kind: "model",
    async draftDirectly(input) {
      if (!takesTools) return null;
      return draftDirectly(caller, input).catch((error: unknown) => {
        if (!isModelError(error, "MODEL_REQUEST_INVALID")) throw error;
        // The server has no tool calling, so it is not tried again.
        takesTools = false;
        return null;
      });
    },
    async draft(input) {
      if (input.tools.length === 0) throw new NoToolsError();
      const { meter, signal } = input;
      return caller.ask({ messages: draftMessages(input), schema: formOf(input), meter, signal });
    },
    answer: (input) => {
      const { meter, signal } = input;
      return caller.ask({ messages: answerMessages(input), meter, signal });
    },
  };
}

/** The form of an answer with a plan, with the parts of the plan language that the prompt explains. */
const formOf = (input: DraftInput): AnswerSchema => ({
  name: "plan",
  description: "Gives the plan.",
  schema: answerSchema(planLanguage(input), input.replan !== undefined),
});
