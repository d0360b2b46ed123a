import type { RequestDocument } from "@planwright/store";

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
