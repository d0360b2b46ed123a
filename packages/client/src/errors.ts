import { CodedError, type JsonObject, type JsonValue } from "@planwright/plan";
import { z } from "zod";

/** The API gave no answer: the connection was refused or lost, or the answer came too late. */
export class ApiUnreachableError extends CodedError<{ url: string; reason: string }> {
  readonly code = "API_UNREACHABLE";
  readonly retryable = true;
  constructor(url: string, reason: string, cause?: unknown) {
    super(`The API at ${url} does not answer: ${reason}`, { url, reason }, { cause });
  }
}

/** A server answers at this address, but it is not the API. */
export class NotTheApiError extends CodedError<{ url: string; status: number }> {
  readonly code = "NOT_THE_API";
  readonly retryable = false;
  constructor(url: string, status: number, cause?: unknown) {
    super(
      `The server at ${url} is not the API (HTTP ${status}): check --url, which ends with /graphql`,
      { url, status },
      { cause },
    );
  }
}

/** The API's facts about an operation that it refused. */
export interface Refusal {
  /** `extensions.code`: decide by this. */
  code: string;
  /** True when the same operation may succeed later. */
  retryable: boolean;
  /** What to do, for people; null when the API does not say. */
  remedy: string | null;
  /** The field that failed, from the root of the document; empty when the whole operation was refused. */
  path: readonly (string | number)[];
  /** Everything else in `extensions`, such as requestId and diagnostics. */
  facts: JsonObject;
}

/** The API refused the operation. The message is the API's own. */
export class ApiRefusedError extends CodedError<Refusal> {
  readonly code = "API_REFUSED";
  readonly retryable: boolean;
  constructor(message: string, refusal: Refusal) {
    super(message, refusal);
    this.retryable = refusal.retryable;
  }

  /** One fact of the refusal. */
  fact(name: string): JsonValue | undefined {
    return this.facts.facts[name];
  }
}

const DiagnosticsSchema = z.array(
  z.object({
    code: z.string(),
    severity: z.string(),
    stepId: z.string().nullable().default(null),
    path: z.string().nullable().default(null),
    message: z.string(),
    suggestion: z.string().nullable().default(null),
  }),
);

/** An explanation of a call's error, for people. */
export interface Explanation {
  /** The diagnostics of the plan that was sent; empty for other errors. */
  diagnostics: z.infer<typeof DiagnosticsSchema>;
  /** What to do, one sentence each. */
  advice: string[];
  /** The request under which the API stored the refused plan; null when nothing was stored. */
  requestId: string | null;
}

/** Explains why a call failed and what to do. Pure. */
export function explainError(error: unknown): Explanation {
  if (error instanceof ApiUnreachableError) {
    const advice =
      "Is it running? Start it with npm start, or name another one with --url or PLANWRIGHT_URL.";
    return { diagnostics: [], advice: [advice], requestId: null };
  }
  if (!(error instanceof ApiRefusedError)) return { diagnostics: [], advice: [], requestId: null };
  const { code, remedy } = error.facts;
  const found = DiagnosticsSchema.safeParse(error.fact("diagnostics"));
  const requestId = error.fact("requestId");
  const isStored = found.success && error.fact("stored") !== false;
  return {
    diagnostics: found.data ?? [],
    advice: [
      ...(code === "UNAUTHENTICATED" ? ["Set PLANWRIGHT_API_KEY to an API key or a token."] : []),
      ...(remedy === null ? [] : [remedy]),
    ],
    requestId: typeof requestId === "string" && isStored ? requestId : null,
  };
}
