import { unmarkNumbers } from "@planwright/plan";
import { ApiError, SHOWN_VALUE } from "./api-error.ts";

/** An argument has a value that the operation does not accept. */
export class BadInputError extends ApiError<{ argument: string }> {
  constructor(argument: string, message: string, remedy: string) {
    super("BAD_USER_INPUT", { argument }, { message, remedy });
  }
}

/** A policy has an unknown option, or a value that its option does not accept. */
export class BadPolicyError extends ApiError<{ option: string; value: unknown }> {
  constructor(option: string, value: unknown, remedy: string) {
    const text = unmarkNumbers(JSON.stringify(value) ?? "null");
    const shown = text.length > SHOWN_VALUE ? `${text.slice(0, SHOWN_VALUE)}…` : text;
    const facts = { option, value: text === shown ? value : shown };
    super("POLICY_INVALID", facts, { message: `${option} cannot be ${shown}`, remedy });
  }
}

/** The answer would be larger than the limit. A mutation has still taken effect. */
export class AnswerTooLargeError extends ApiError<{ maxBytes: number }> {
  constructor(maxBytes: number) {
    super(
      "ANSWER_TOO_LARGE",
      { maxBytes },
      {
        message: `The answer would have more than ${maxBytes} bytes`,
        remedy:
          "Ask for fewer at once: smaller pages of requests, stepsConnection in place of steps, large outputs by their ref.",
      },
    );
  }
}

/** The idempotency key was used with other arguments. Nothing was accepted. */
export class KeyReusedError extends ApiError<{ requestId: string }> {
  constructor(requestId: string) {
    super(
      "IDEMPOTENCY_KEY_REUSED",
      { requestId },
      {
        message: `The idempotencyKey was used before with other arguments, for ${requestId}`,
        remedy: "Send the same arguments as the first time to get its request, or choose a new key.",
      },
    );
  }
}
