import { z } from "zod";
import { ApiRefusedError, ApiUnreachableError } from "./errors.ts";

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
