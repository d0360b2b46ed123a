import { countText } from "@planwright/plan";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { type PlanDocument, READ_TOOL_SCHEMAS } from "../data/desk-operations.ts";
import { useRead } from "../data/use-read.ts";
import type { StatusLook } from "../design/statuses.ts";
import type { Diagnostic } from "../parts/diagnostic.ts";
import { Diagnostics } from "../parts/diagnostics.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { StatusBadge } from "../parts/status-badge.tsx";
import { DraftGraph } from "./draft-graph.tsx";
import type { EditedPlan, EditorTarget } from "./editor/plan-editor.tsx";
import { type Check, useCheck } from "./use-check.ts";

/** The editor is loaded when it is first shown. */
const PlanEditor = lazy(async () => ({ default: (await import("./editor/plan-editor.tsx")).PlanEditor }));

const NOTHING: EditedPlan = { text: "", document: null, fault: null };

/** The editor, with the graph and the diagnostics beside it. */
export function Bench({
  initialText,
  base,
  baseDiagnostics,
  children,
}: {
  initialText: string;
  /** The version that the user changes; null for a new plan. */
  base: PlanDocument | null;
  /** The diagnostics of the stored version, shown until the first check. */
  baseDiagnostics: readonly Diagnostic[];
  /** The actions for the text. */
  children: (edited: EditedPlan, check: Check) => ReactNode;
}) {
  const [edited, setEdited] = useState(NOTHING);
  const [stepId, setStepId] = useState<string | null>(null);
  const [target, setTarget] = useState<EditorTarget | null>(null);
  const tools = useRead(READ_TOOL_SCHEMAS, {});
  const check = useCheck(edited);
  const isFirst = check.state === "checking" && check.diagnostics.length === 0 && edited.text === initialText;
  const diagnostics = isFirst ? baseDiagnostics : check.diagnostics;
  return (
    <>
      <div className="bench">
        <section className="pane bench-editor" aria-label="Editor">
          <Suspense fallback={<p className="empty">Opening the editor …</p>}>
            <PlanEditor
              initialText={initialText}
              tools={(tools.data?.getAvailableTools ?? []).map(({ observedOutput, ...tool }) => ({
                ...tool,
                outputSchema: tool.outputSchema ?? observedOutput?.schema ?? null,
              }))}
              diagnostics={diagnostics}
              target={target}
              onEdit={setEdited}
              onStep={setStepId}
            />
          </Suspense>
        </section>
        <div className="bench-side">
          <section className="pane" aria-label="Graph of the draft">
            <DraftGraph
              document={edited.document}
              base={base}
              diagnostics={diagnostics}
              selected={stepId}
              onSelect={(id) => setTarget({ stepId: id })}
            />
          </section>
          <section className="pane bench-diagnostics" aria-label="Diagnostics">
            <CheckState check={check} fault={edited.fault} />
            <Diagnostics diagnostics={diagnostics} onShow={(diagnostic) => setTarget({ diagnostic })} />
            {check.problem && <ProblemNote problem={check.problem} />}
            {tools.problem && <ProblemNote problem={tools.problem} />}
          </section>
        </div>
      </div>
      <footer className="bench-actions">{children(edited, check)}</footer>
    </>
  );
}

/** Shows whether the text is a valid plan, as far as it was checked. */
function CheckState({ check, fault }: { check: Check; fault: string | null }) {
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
