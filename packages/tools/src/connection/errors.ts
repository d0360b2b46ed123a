import { CodedError } from "@planwright/plan";

/** There is no connection to the server, so nothing was sent. */
export class ServerUnreachableError extends CodedError<{ server: string; reason: string }> {
  readonly code = "SERVER_UNREACHABLE";
  readonly retryable = true;
  constructor(server: string, reason: string, cause?: unknown) {
    super(`Server ${server} cannot be reached: ${reason}`, { server, reason }, { cause });
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
