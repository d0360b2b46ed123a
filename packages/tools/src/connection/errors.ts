import { stripVTControlCharacters } from "node:util";
import { CodedError, wholeCharacters } from "@planwright/plan";

/** There is no connection to the server, so nothing was sent. */
export class ServerUnreachableError extends CodedError<{
  server: string;
  reason: string;
  /** What its process wrote instead of messages; for operators only, so it is not in the message. */
  said?: string | undefined;
}> {
  readonly code = "SERVER_UNREACHABLE";
  readonly retryable = true;
  constructor(server: string, reason: string, cause?: unknown, said?: string) {
    super(`Server ${server} cannot be reached: ${reason}`, { server, reason, said }, { cause });
  }
}

/** The answer is larger than the limit. The tool did its work. */
export class AnswerTooLargeError extends CodedError<{ maxBytes: number }> {
  readonly code = "ANSWER_TOO_LARGE";
  readonly retryable = false;
  constructor(maxBytes: number) {
    super(
      `The answer is more than ${maxBytes} bytes and was not read to its end; let the tool return less, such as a page, a selection of fields, or where the data can be found`,
      { maxBytes },
    );
  }
}

/** The stream of an answer ended or broke before the answer was complete. */
export class AnswerLostError extends CodedError {
  readonly code = "ANSWER_LOST";
  readonly retryable = true;
  constructor(cause?: unknown) {
    super("The connection ended before the answer came", {}, { cause });
  }
}

/** The server sent something that is not a message of the protocol. Whether the tool has acted is not known. */
export class UnreadableAnswerError extends CodedError<{ reason: string; excerpt: string }> {
  readonly code = "ANSWER_UNREADABLE";
  readonly retryable = true;
  /**
   * @param reason - what is wrong with it, such as "is not JSON"
   * @param text - what came; the message contains its beginning
   */
  constructor(reason: string, text: string, cause?: unknown) {
    const excerpt = excerptOf(text);
    super(
      `What the server sent ${reason}${excerpt === "" ? "" : `: ${excerpt}`}`,
      { reason, excerpt },
      { cause },
    );
  }
}

/** Longest excerpt, in characters. */
const MAX_EXCERPT = 160;

/** The beginning of a text that a server sent, in one line and without invisible characters. */
export function excerptOf(text: string): string {
  // oxlint-disable-next-line no-control-regex -- they show that this is not text
  if (/[\u0000-\u0007\uFFFD]/.test(text.slice(0, MAX_EXCERPT))) return "(binary data)";
  const visible = stripVTControlCharacters(text.slice(0, MAX_EXCERPT * 4))
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\s]+/gu, " ")
    .trim();
  // The ellipsis also shows that the text before it may end with the beginning of a secret.
  return visible.length > MAX_EXCERPT || text.length > MAX_EXCERPT * 4
    ? cutText(visible, MAX_EXCERPT)
    : visible;
}

/** The beginning of a text with an ellipsis, together of so many characters; never half of a character. */
export function cutText(text: string, maxChars: number): string {
  return `${wholeCharacters(text, maxChars - 3)}...`;
}
