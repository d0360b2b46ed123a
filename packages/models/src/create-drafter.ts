import { createCaller, type ModelCaller } from "./calls/model-caller.ts";
import {
  ModelSettingError,
  type ModelSettingsInput,
  ModelSettingsSchema,
  parseModelSetting,
} from "./calls/model-setting.ts";
import { isFormRefused } from "./calls/to-model-error.ts";
import { draftDirectly } from "./direct-calls.ts";
import { DraftError, isModelError, NoToolsError } from "./draft/draft-error.ts";
import type { AnswerSchema, ContractInput, Drafter, DraftInput, ProposedContracts } from "./draft/drafter.ts";
import { answerMessages, answerSchema } from "./prompts/answer-messages.ts";
import { CONTRACT_ANSWER, contractQuestions, readProposals } from "./prompts/contract-questions.ts";
import { draftMessages } from "./prompts/draft-messages.ts";
import { planLanguage } from "./prompts/system-prompt.ts";

/**
 * The drafter of the settings. The library of a provider is loaded at its first draft.
 * @param withoutModel - creates the drafter for MODEL=offline, such as that of `@planwright/offline`; absent:
 * a model is required
 * @throws {ModelSettingError}
 * @throws {ModelError} with MODEL_KEY_MISSING; at once, so that a service does not start with a setting that
 * cannot work
 */
export function createDrafter(input: ModelSettingsInput, withoutModel?: () => Drafter): Drafter {
  const settings = ModelSettingsSchema.parse(input);
  const setting = parseModelSetting(settings.MODEL);
  if (setting.kind === "model") return createModelDrafter(createCaller(setting, settings));
  if (withoutModel) return withoutModel();
  throw new ModelSettingError({ variable: "MODEL", setting: "offline" });
}

/** A drafter that uses a chat model. */
function createModelDrafter(caller: ModelCaller): Drafter {
  /** Whether the first model calls tools that it is offered; null until one was called or refused. */
  let takesTools: boolean | null = null;
  return {
    name: caller.name,
    kind: "model",
    async draftDirectly(input) {
      if (takesTools === false) return null;
      try {
        const draft = await draftDirectly(caller, input);
        if (draft?.model === caller.name) takesTools = true;
        return draft;
      } catch (error) {
        if (!isModelError(error, "MODEL_REQUEST_INVALID")) throw error;
        // A server without tool calling is not tried again. Any other refusal is about this one request.
        const isOfTools = error.facts.model === caller.name && isFormRefused(error, "tool-call");
        if (isOfTools) takesTools ??= false;
        return null;
      }
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
    proposeContracts: (input) => proposeContracts(caller, input),
  };
}

/**
 * Asks one question after the other; the first failure, or the end of the signal, ends that, and what was proposed
 * before is kept.
 */
async function proposeContracts(
  caller: ModelCaller,
  { tools, meter, signal }: ContractInput,
): Promise<ProposedContracts> {
  const proposed: ProposedContracts = { proposals: [], asked: 0, unusable: 0, error: null };
  for (const question of contractQuestions(tools)) {
    try {
      const { messages } = question;
      const { text, model } = await caller.ask({ messages, schema: CONTRACT_ANSWER, meter, signal });
      const read = readProposals(text, question.tools);
      if (!read) return { ...proposed, error: notProposals(model ?? caller.name) };
      proposed.proposals.push(...read.proposals);
      proposed.unusable += read.unusable;
      proposed.asked += question.tools.size;
    } catch (error) {
      if (signal.aborted) return { ...proposed, error: ENDED };
      if (!(error instanceof DraftError)) throw error;
      return { ...proposed, error: { code: error.code, message: error.message } };
    }
  }
  return proposed;
}

const ENDED = { code: "MODEL_TIMEOUT", message: "The time for the questions ended before all were answered" };

const notProposals = (model: string) => ({
  code: "MODEL_ANSWER_UNREADABLE",
  message: `The answer of ${model} is not the list of proposals that was asked for`,
});

/** The form of an answer with a plan, with the parts of the plan language that the prompt explains. */
const formOf = (input: DraftInput): AnswerSchema => ({
  name: "plan",
  description: "Gives the plan.",
  schema: answerSchema(planLanguage(input), input.replan !== undefined),
});
