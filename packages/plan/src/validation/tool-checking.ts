import type { DiagnosticCollector } from "../diagnostics/diagnostic-collector.ts";
import type { Policy } from "../policy/policy.ts";
import type { Catalogue } from "./catalogue.ts";
import type { SaidHow } from "./check-no-values.ts";

/** What steps are checked with against a catalogue. */
export interface ToolChecking {
  readonly catalogue: Catalogue;
  readonly policy: Policy;
  readonly diagnostics: DiagnosticCollector;
  /** Most that a step may ask for beyond the policy, in milliseconds. */
  readonly maxStepTimeoutMs: number;
  /** True for a text that is a value as it is: the plan lists it in `literals`, or the request says it. */
  readonly isLiteral: (text: string, how: SaidHow) => boolean;
}
