import type { DiagnosticCollector } from "../diagnostics/diagnostic-collector.ts";
import type { Policy } from "../policy/policy.ts";
import type { Catalogue } from "./catalogue.ts";
import type { SaidHow } from "./check-no-values.ts";

/** Context for checking steps against a catalogue. */
export interface ToolChecking {
  readonly catalogue: Catalogue;
  readonly policy: Policy;
  readonly diagnostics: DiagnosticCollector;
  /** Upper limit for a step's own timeout, in milliseconds. */
  readonly maxStepTimeoutMs: number;
  /** True for a text that is a literal value: the plan lists it in `literals`, or the request contains it. */
  readonly isLiteral: (text: string, how: SaidHow) => boolean;
}
