import { cut, type DiagnosticCollector } from "../diagnostics/diagnostic-collector.ts";
import type { DraftStep } from "../document/draft-step.ts";
import type { Notice } from "../notation/translate-text.ts";
import type { Policy } from "../policy/policy.ts";
import type { ToolRootHints } from "./tool-root-hint.ts";

/** The location of a text. */
export interface TextPlace {
  /** Absent for the plan's outputs. */
  readonly step?: DraftStep | undefined;
  readonly keys: readonly (string | number)[];
  readonly hasScope?: ((name: string) => boolean) | undefined;
}

/** Context for reporting notices. */
export interface NoticeReporting {
  readonly policy: Pick<Policy, "onUnresolvedStep">;
  readonly diagnostics: DiagnosticCollector;
  readonly toolHint: ToolRootHints;
}

/** Adds the diagnostic for a text in a foreign notation: how it was read, or why it cannot be read. */
export function reportNotice(
  notice: Notice,
  { step, keys }: TextPlace,
  { policy, diagnostics, toolHint }: NoticeReporting,
): void {
  const place = { keys, ...(step ? { step } : {}) };
  const begin = step ? `step ${step.id}` : "the outputs";
  const shown = cut(notice.text);
  const [reading] = notice.readings;
  const escape = `\\${notice.text}`;
  const instead = notice.isObject ? "" : `, or ${cut(escape)} for the characters themselves`;
  switch (notice.type) {
    case "translated": {
      const message = `${begin}: ${shown} is read as ${reading}; write that`;
      diagnostics.add("REFERENCE_SPELLING", place, { message, severity: "warning", suggestion: reading });
      return;
    }
    case "doubt": {
      const isOpen = notice.readings.length > 1;
      const message = isOpen
        ? `${begin}: ${shown} can mean ${notice.readings.slice(0, 20).join(", ")}; write the one that is meant`
        : `${begin}: ${shown} may be the reference ${reading} or text; write ${reading}${instead}`;
      const code = isOpen ? "REFERENCE_AMBIGUOUS" : "REFERENCE_SPELLING";
      diagnostics.add(code, place, { message, suggestion: reading });
      return;
    }
    case "malformed": {
      const message = `${begin}: ${shown} is no reference; write ${reading ?? "<<step.field>>"}${instead}`;
      diagnostics.add("REFERENCE_MALFORMED", place, { message, suggestion: reading });
      return;
    }
    case "kept": {
      const message = `${begin}: ${shown} stays text, because it belongs to a query in another language; write ${reading} for the output of that step`;
      diagnostics.add("REFERENCE_SPELLING", place, { message, severity: "warning", suggestion: reading });
      return;
    }
    case "unknown": {
      const severity = policy.onUnresolvedStep === "keep" ? "warning" : "error";
      const hint = toolHint(notice.text.slice(2));
      const message = `${begin} refers to ${shown}: no such step${hint?.message ?? "; write <<step.field>>"}${instead}`;
      diagnostics.add("REFERENCE_UNKNOWN", place, { message, severity, suggestion: hint?.suggestion });
    }
  }
}
