import type { Policy } from "../policy.ts";
import type { Catalogue } from "./catalogue.ts";
import type { Findings } from "./findings.ts";

/** What steps are checked with against a catalogue. */
export interface ToolChecking {
  readonly catalogue: Catalogue;
  readonly policy: Policy;
  readonly findings: Findings;
}
