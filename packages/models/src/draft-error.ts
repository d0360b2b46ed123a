import { CodedError, type OpenDraft } from "@planwright/plan";
import type { DraftResult } from "./drafter.ts";

/** Every way in which a draft can fail. */
export type DraftErrorCode =
  | "MODEL_SETTING_INVALID"
  | "MODEL_KEY_MISSING"
  | "MODEL_REQUIRED"
  | "MODEL_UNAUTHORIZED"
  | "MODEL_NOT_FOUND"
  | "MODEL_QUOTA_EXHAUSTED"
  | "MODEL_UNPRICED"
  | "BUDGET_EXCEEDED"
  | "MODEL_REQUEST_INVALID"
  | "MODEL_UNREACHABLE"
  | "MODEL_ENDPOINT_WRONG"
  | "MODEL_RATE_LIMITED"
  | "MODEL_TIMEOUT"
  | "MODEL_REFUSED"
  | "MODEL_CONTENT_FILTERED"
  | "MODEL_ANSWER_TRUNCATED"
  | "MODEL_ANSWER_UNREADABLE"
  | "NOT_UNDERSTOOD"
  | "VALUE_MISSING"
  | "NO_TOOLS";

/** What was sent and received before the failure, for the record of the call. */
export type PartialDraft = Partial<DraftResult>;

/** No draft came out. The message is for users: what happened and what to do. */
export abstract class DraftError<Facts extends object = object> extends CodedError<Facts> {
  abstract override readonly code: DraftErrorCode;
  /** Absent when nothing was sent. */
  readonly partial: PartialDraft | undefined;

  constructor(message: string, facts: Facts, options: { cause?: unknown; partial?: PartialDraft } = {}) {
    super(message, facts, options);
    this.partial = options.partial;
  }
}

/** There is nothing to plan with: the catalogue is empty. */
export class NoToolsError extends DraftError<Record<string, never>> {
  readonly code = "NO_TOOLS";
  readonly retryable = true;
  constructor() {
    super(
      "No tools are known, so nothing can be planned. Configure an MCP server in the file named by MCP_SERVERS_FILE and start an executor, which publishes the tools of its servers.",
      {},
    );
  }
}

/** The offline drafter does not understand a part of the sentence; it never guesses. */
export class NotUnderstoodError extends DraftError<{
  clause: string;
  reason: string;
  nearestTools: readonly string[];
}> {
  readonly code = "NOT_UNDERSTOOD";
  readonly retryable = false;
  constructor(facts: { clause: string; reason: string; nearestTools: readonly string[] }) {
    const nearest =
      facts.nearestTools.length > 0 ? ` The nearest tools are ${facts.nearestTools.join(", ")}.` : "";
    super(
      `The offline drafter does not understand "${facts.clause}": ${facts.reason}.${nearest} Say it in other words, or set MODEL to plan with a language model.`,
      facts,
    );
  }
}

/** A value that a tool needs. */
export interface MissingValue {
  tool: string;
  parameter: string;
  description: string | null;
  /** What the sentence says in its place, though it cannot be the value: a name where an address is wanted. */
  said: string | null;
  /** What it must be, in words: "an e-mail address", "one of low, high". */
  form: string;
}

/** Required values have no source in the sentence, and values are never invented. */
export class ValueMissingError extends DraftError<{
  clause: string;
  /** Which of several objects of the clause; null where it speaks of one. */
  object: string | null;
  missing: readonly MissingValue[];
  /** Everything else that the sentence asks for, and the places of what is missing in it. */
  open: OpenDraft;
}> {
  readonly code = "VALUE_MISSING";
  readonly retryable = false;
  constructor(facts: {
    clause: string;
    object: string | null;
    missing: readonly MissingValue[];
    open: OpenDraft;
  }) {
    const [first] = facts.missing;
    const named = facts.missing
      .filter(({ tool }) => tool === first?.tool)
      .map(
        ({ parameter, description }) => `"${parameter}"${description === null ? "" : ` (${description})`}`,
      );
    super(
      `"${facts.clause}" gives${facts.object === null ? "" : ` for "${facts.object}"`} no value for ${named.join(" and ")}, which ${first?.tool ?? "the tool"} requires. Add it to the sentence, for example: with ${first?.parameter ?? "name"} "...".`,
      facts,
    );
  }
}
