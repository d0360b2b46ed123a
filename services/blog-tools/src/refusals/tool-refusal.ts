import { CodedError } from "@planwright/plan";

/**
 * A call that the tool refuses: the message is shown to the caller as an `isError` result. Nothing was
 * changed.
 */
export abstract class ToolRefusal<Facts extends object = object> extends CodedError<Facts> {
  readonly retryable = false;
}

/** Arguments that do not fit the tool's input schema. Names every problem. */
export class ArgumentsInvalidError extends ToolRefusal<{ tool: string; problems: string[] }> {
  readonly code = "ARGUMENTS_INVALID";
  constructor(tool: string, problems: string[]) {
    super(`Invalid arguments for ${tool}: ${problems.join("; ")}`, { tool, problems });
  }
}

/** An id that no document can have. */
export class IdInvalidError extends ToolRefusal<{ field: string; value: string }> {
  readonly code = "ID_INVALID";
  constructor(field: string, value: string) {
    const shown = value.length > 60 ? `${value.slice(0, 60)}...` : value;
    super(`${field} "${shown}" is not a valid id: ids have 24 hexadecimal characters`, {
      field,
      value: shown,
    });
  }
}

/** A well-formed id of something that does not exist, or was deleted. */
export class NotFoundError extends ToolRefusal<{ thing: string; id: string }> {
  readonly code = "NOT_FOUND";
  constructor(thing: string, id: string) {
    super(`There is no ${thing} with the _id ${id}`, { thing, id });
  }
}

/** Another author has this email address. */
export class EmailTakenError extends ToolRefusal<{ email: string }> {
  readonly code = "EMAIL_TAKEN";
  constructor(email: string, cause?: unknown) {
    super(`An author with the email ${email} already exists`, { email }, { cause });
  }
}

/** An update that names nothing to change. */
export class NothingToUpdateError extends ToolRefusal<{ fields: readonly string[] }> {
  readonly code = "NOTHING_TO_UPDATE";
  constructor(fields: readonly string[]) {
    super(`Give at least one of ${fields.join(", ")}`, { fields });
  }
}

/** The idempotency key belongs to a call of this tool with other arguments. */
export class KeyReusedError extends ToolRefusal<{ tool: string }> {
  readonly code = "KEY_REUSED";
  constructor(tool: string) {
    super(`The idempotency key was already used for another call of ${tool}`, { tool });
  }
}

/** The idempotency key is not a text of 1 to 512 characters. */
export class KeyInvalidError extends ToolRefusal {
  readonly code = "KEY_INVALID";
  constructor() {
    super("The idempotency key must be a text of 1 to 512 characters", {});
  }
}

/** A `cursor` that no list returned. */
export class CursorInvalidError extends ToolRefusal {
  readonly code = "CURSOR_INVALID";
  constructor() {
    super("The cursor is not one that this list gave", {});
  }
}
