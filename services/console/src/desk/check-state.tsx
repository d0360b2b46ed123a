import { countText } from "@planwright/plan";
import { type StatusLook } from "../design/statuses.ts";
import { StatusBadge } from "../parts/status-badge.tsx";
import type { Check } from "./use-check.ts";

/** Shows whether the text is a valid plan, as far as it was checked. */
export function CheckState({ check, fault }: { check: Check; fault: string | null }) {
  return (
    <p className="check-state" role="status">
      <StatusBadge look={lookOf(check)} /> {wordsOf(check, fault)}
    </p>
  );
}

const LOOK: Record<Check["state"], StatusLook> = {
  empty: { word: "empty", mark: "○", tone: "quiet" },
  checking: { word: "checking", mark: "…", tone: "active" },
  fault: { word: "not JSON", mark: "✕", tone: "bad" },
  invalid: { word: "invalid", mark: "✕", tone: "bad" },
  valid: { word: "valid", mark: "✓", tone: "good" },
  unknown: { word: "not checked", mark: "?", tone: "attention" },
};

function lookOf({ state }: Check): StatusLook {
  return LOOK[state];
}

function wordsOf({ state, diagnostics }: Check, fault: string | null): string {
  const errors = diagnostics.filter(({ severity }) => severity === "error").length;
  const warnings = diagnostics.length - errors;
  const found = [
    errors > 0 ? countText(errors, "error") : "",
    warnings > 0 ? countText(warnings, "warning") : "",
  ].filter(Boolean);
  switch (state) {
    case "empty":
      return "Write a plan: completion opens while you type, or with Ctrl+Space.";
    case "fault":
      return fault ?? "";
    case "valid":
      return found.length > 0 ? `It can run. ${found.join(", ")}.` : "It can run.";
    case "invalid":
      return `${found.join(", ")}.`;
    case "checking":
    case "unknown":
      return "";
  }
}
