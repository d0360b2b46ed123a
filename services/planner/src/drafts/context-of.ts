import { isJsonObject, type JsonObject, type JsonValue, type PlanningContext } from "@planwright/plan";
import { redactJson } from "@planwright/runtime";
import { contextOf, type RequestDocument } from "@planwright/store";

/**
 * The planning context that a model may see. Facts that look like credentials are left out, because their
 * values could not be restored later. Pure.
 */
export function shownContextOf(request: Pick<RequestDocument, "context" | "createdAt">): PlanningContext {
  const context = contextOf(request);
  const shown = redactJson(context.facts, { maxDepth: 100 });
  return { ...context, facts: unchangedFields(context.facts, isJsonObject(shown) ? shown : {}) };
}

function unchangedValue(value: JsonValue, shown: JsonValue): JsonValue | undefined {
  if (Array.isArray(value) && Array.isArray(shown))
    return value.flatMap((each, index) => {
      const kept = unchangedValue(each, shown[index] ?? null);
      return kept === undefined ? [] : [kept];
    });
  if (isJsonObject(value) && isJsonObject(shown)) return unchangedFields(value, shown);
  return value === shown ? value : undefined;
}

function unchangedFields(fields: JsonObject, shown: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      const kept = unchangedValue(value, shown[name] ?? null);
      return kept === undefined ? [] : [[name, kept]];
    }),
  );
}

/** The text of a request: its sentence, followed by each answer to a question as a separate sentence. */
export function askedOf(request: Pick<RequestDocument, "query" | "answers">): string {
  const answers = request.answers.map(({ answer }) => answer.trim());
  return [request.query?.trim() ?? "", ...answers].filter(Boolean).reduce(appendSentence, "");
}

/**
 * The same for a model, with each answer below its question. The questions are not the user's text, see
 * {@link askedOf}.
 */
export function conversationOf(request: Pick<RequestDocument, "query" | "answers">): string {
  const turns = request.answers.map(
    ({ question, answer }) => `Question: ${question}\nAnswer: ${answer.trim()}`,
  );
  return [request.query?.trim() ?? "", ...turns].filter(Boolean).join("\n");
}

function appendSentence(text: string, sentence: string): string {
  if (text === "") return sentence;
  return /[.!?]$/.test(text) ? `${text} ${sentence}` : `${text}. ${sentence}`;
}

/**
 * An output or a call that a model may see. A plan only refers to values of outputs, and the secrets of calls
 * are restored afterwards.
 */
export function withoutSecrets(value: JsonValue): JsonValue {
  return redactJson(value, { maxDepth: 100 });
}
