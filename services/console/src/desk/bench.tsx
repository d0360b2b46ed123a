import { lazy, type ReactNode, Suspense, useState } from "react";
import type { PlanDocument } from "../data/desk-operations.ts";
import { READ_TOOL_SCHEMAS } from "../data/desk-operations.ts";
import { useRead } from "../data/use-read.ts";
import type { Diagnostic } from "../parts/diagnostic.ts";
import { Diagnostics } from "../parts/diagnostics.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { CheckState } from "./check-state.tsx";
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
