import { CodedError } from "@planwright/plan";
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

/** There is no draft. The message says to users what happened and what to do. */
export abstract class DraftError<Facts extends object = object> extends CodedError<Facts> {
  abstract override readonly code: DraftErrorCode;
  /** Absent when nothing was sent. */
  readonly partial: PartialDraft | undefined;

  constructor(message: string, facts: Facts, options: { cause?: unknown; partial?: PartialDraft } = {}) {
    super(message, facts, options);
    this.partial = options.partial;
  }
}

/** The catalogue is empty, so no plan is possible. */
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
