import { carriedOver, NEVER_RAN, type ResultOf, type StepRun } from "@planwright/client";
import { countText, parseExactJson, visibleText } from "@planwright/plan";
import { lazy, type ReactNode, Suspense, useEffect, useMemo, useState } from "react";
import { type DeskPlan, READ_TOOL_SCHEMAS, VALIDATE_PLAN } from "../data/desk-operations.ts";
import { type ApiProblem, problemOf, useClient, useRead } from "../data/use-api.ts";
import { Diagnostics, type ShownDiagnostic } from "../parts/diagnostics.tsx";
import { Pill, ProblemNote } from "../parts/elements.tsx";
import { CHECK_LOOK } from "../parts/looks.ts";
import { type DeskStep, draftSteps, effectsOf, effectsText, keptSteps } from "./draft-steps.ts";
import type { EditedPlan, EditorTarget } from "./plan-editor.tsx";

/** The editor is loaded when it is first shown. */
const PlanEditor = lazy(async () => ({ default: (await import("./plan-editor.tsx")).PlanEditor }));

const NOTHING: EditedPlan = { text: "", document: null, fault: null, appliable: () => new Set() };

/** A step that failed: the desk opens at it. */
export interface Trouble {
  stepId: string;
  message: string;
  code: string;
}

/** The editor, with the graph and the diagnostics beside it. */
export function Bench({
  initialText,
  keptAt,
  base,
  baseDiagnostics,
  trouble = null,
  progress = null,
  children,
}: {
  initialText: string;
  /** What the text belongs to: it is kept in the tab under this name until it is sent. */
  keptAt: string;
  /** The version that the user changes; null for a new plan. */
  base: DeskPlan | null;
  /** The diagnostics of the stored version, shown until the first check. */
  baseDiagnostics: readonly ShownDiagnostic[];
  trouble?: Trouble | null;
  /** The steps of the stored version while it is executed; null before that. */
  progress?: readonly StepRun[] | null;
  /** The actions for the text. */
  children: (bench: BenchState) => ReactNode;
}) {
  const kept = useMemo(() => keptText(keptAt), [keptAt]);
  const [start, setStart] = useState(() => kept.read() ?? initialText);
  const [edited, setEdited] = useState(NOTHING);
  const [stepId, setStepId] = useState<string | null>(null);
  const [target, setTarget] = useState<EditorTarget | null>(trouble);
  const tools = useRead(READ_TOOL_SCHEMAS, {});
  const known = useMemo(() => tools.data?.getAvailableTools ?? [], [tools.data]);
  const check = useCheck(edited);
  const isFirst = check.state === "checking" && check.diagnostics.length === 0 && edited.text === initialText;
  const diagnostics = isFirst ? baseDiagnostics : check.diagnostics;
  const appliable = useMemo(() => edited.appliable(diagnostics), [edited, diagnostics]);
  const isRead = edited.text !== "";
  const isChanged = isRead && edited.text !== initialText && !isBlank(edited.text);
  useAskBeforeLeaving(isChanged);
  useEffect(() => {
    if (isRead) kept.keep(isChanged ? edited.text : null);
  }, [kept, isRead, isChanged, edited.text]);
  const effects = useMemo(
    () => effectsOf(edited.document, known, keptSteps(base?.document, edited.document, completedOf(base))),
    [edited.document, known, base],
  );
  return (
    <>
      {start !== initialText && (
        <p className="note tone-active" role="status">
          What you wrote before is here again.{" "}
          <button
            type="button"
            onClick={() => {
              kept.keep(null);
              setStart(initialText);
            }}
          >
            Discard it
          </button>
        </p>
      )}
      {trouble && (
        <div className="note tone-bad">
          <strong dir="auto">
            Step {trouble.stepId} failed: {visibleText(trouble.message)}
          </strong>{" "}
          <code>{trouble.code}</code>{" "}
          <button type="button" onClick={() => setTarget({ stepId: trouble.stepId })}>
            Go to the step
          </button>
        </div>
      )}
      <div className="bench">
        <section className="pane bench-editor" aria-label="Editor">
          <Suspense fallback={<p className="empty">Opening the editor …</p>}>
            <PlanEditor
              initialText={start}
              tools={known.map(({ observedOutput, contract: _contract, ...tool }) => ({
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
              progress={isChanged ? null : progress}
              selected={stepId}
              onSelect={(id) => setTarget({ stepId: id })}
            />
          </section>
          <section className="pane bench-diagnostics" aria-label="Diagnostics">
            <CheckState check={check} fault={edited.fault} />
            <Diagnostics
              diagnostics={diagnostics}
              onShow={(diagnostic) => setTarget({ diagnostic })}
              applyOf={(diagnostic) =>
                appliable.has(diagnostic) ? () => setTarget({ apply: diagnostic }) : undefined
              }
            />
            {check.problem && <ProblemNote problem={check.problem} />}
            {tools.problem && <ProblemNote problem={tools.problem} />}
          </section>
        </div>
      </div>
      <footer className="bench-actions">
        {children({
          edited,
          check,
          effects: check.state === "valid" && known.length > 0 ? effectsText(effects) : "",
          forget: () => kept.keep(null),
        })}
      </footer>
    </>
  );
}

/** What the actions below the editor need. */
export interface BenchState {
  edited: EditedPlan;
  check: Check;
  /** What the plan will do when it is executed, in sentences; empty while that is not known. */
  effects: string;
  /** The text was sent: it is not kept any longer. */
  forget: () => void;
}

/** Shows whether the text is a valid plan, as far as it was checked. */
function CheckState({ check, fault }: { check: Check; fault: string | null }) {
  return (
    <p className="check-state" role="status">
      <Pill look={CHECK_LOOK[check.state]} /> {wordsOf(check, fault)}
    </p>
  );
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

const PlanGraph = lazy(async () => ({
  default: (await import("../graph/plan-graph.tsx")).PlanGraph,
}));

/**
 * The graph of the edited plan. It marks steps with errors, and steps that a new version would carry over.
 */
export function DraftGraph({
  document,
  base,
  diagnostics,
  progress = null,
  selected,
  onSelect,
}: {
  document: unknown;
  base: DeskPlan | null;
  diagnostics: readonly ShownDiagnostic[];
  /** The steps as they are executed; null: the draft as it is written. */
  progress?: readonly StepRun[] | null;
  selected: string | null;
  onSelect: (stepId: string) => void;
}) {
  const rows = useMemo(() => {
    if (progress) return progress;
    const wrong = new Set(
      diagnostics.flatMap(({ severity, stepId }) => (severity === "error" ? [stepId] : [])),
    );
    const kept = keptSteps(base?.document, document, completedOf(base));
    return draftSteps(document).map((step) =>
      rowOf(step, {
        ...(base && kept.has(step.id) && carriedOver(base.planId)),
        ...(wrong.has(step.id) && { status: "FAILED" }),
      }),
    );
  }, [document, base, diagnostics, progress]);
  if (rows.length === 0) return <p className="empty">The graph is drawn as soon as a step has an id.</p>;
  return (
    <Suspense fallback={<p className="empty">Drawing the plan …</p>}>
      <PlanGraph steps={rows} selected={selected} onSelect={onSelect} />
    </Suspense>
  );
}

function completedOf(base: DeskPlan | null): Set<string> {
  const steps = base?.steps ?? [];
  return new Set(
    steps.flatMap(({ id, item, status }) => (item === null && status === "COMPLETED" ? [id] : [])),
  );
}

/** A step that never ran, in the shape of the graph. */
function rowOf({ id, tool, dependsOn }: DeskStep, known: Partial<StepRun>): StepRun {
  const step = { id, key: id, tool: tool === "" ? "no tool yet" : tool, dependsOn };
  return { ...NEVER_RAN, ...step, status: "PENDING", ...known };
}

/** Pause in typing before a text is checked, in milliseconds. */
const PAUSE_MS = 400;

/** The result of checking a text. */
export interface Check {
  /** `fault`: the text is not JSON. */
  state: keyof typeof CHECK_LOOK;
  /** The diagnostics of the newest text that was checked. */
  diagnostics: readonly ShownDiagnostic[];
  /** The plan in canonical form, while it is valid. */
  plan: unknown;
  /** Why the text could not be checked. */
  problem: ApiProblem | null;
}

const NONE: Check = { state: "empty", diagnostics: [], plan: null, problem: null };

/** Checks a plan at each pause in typing. */
function useCheck({ text, fault }: EditedPlan): Check {
  const client = useClient();
  const [check, setCheck] = useState<Check>(NONE);
  useEffect(() => {
    if (isBlank(text)) {
      setCheck(NONE);
      return;
    }
    setCheck((before) => ({ ...before, state: "checking" }));
    const controller = new AbortController();
    async function validate(): Promise<void> {
      if (fault !== null) {
        setCheck({ ...NONE, state: "fault" });
        return;
      }
      try {
        const variables = { plan: parseExactJson(text) as never };
        const { validatePlan } = await client.execute(VALIDATE_PLAN, variables, {
          signal: controller.signal,
        });
        setCheck(checkOf(validatePlan));
      } catch (error) {
        if (!controller.signal.aborted)
          setCheck({ ...NONE, state: "unknown", problem: problemOf(error, "read") });
      }
    }
    const timer = setTimeout(() => void validate(), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [client, text, fault]);
  return check;
}

/** True for a text without a step, such as a new plan: it is not invalid yet. */
function isBlank(text: string): boolean {
  return ["", '{"steps":[]}'].includes(text.replaceAll(/\s/gu, ""));
}

function checkOf({ valid, plan, diagnostics }: ResultOf<typeof VALIDATE_PLAN>["validatePlan"]): Check {
  return {
    state: valid ? "valid" : "invalid",
    diagnostics: diagnostics as ShownDiagnostic[],
    plan,
    problem: null,
  };
}

/**
 * The text of an editor, kept in the memory of the tab: it is there again after a look at another page or a reload,
 * and gone when the tab is closed.
 * @param place - what the text belongs to, such as a plan
 */
function keptText(place: string): {
  read(): string | null;
  /** Keeps a text; null: there is nothing to keep. */
  keep(text: string | null): void;
} {
  const key = `planwright.desk.${place}`;
  return {
    read: () => attempt(() => sessionStorage.getItem(key)),
    keep: (text) => {
      attempt(() => (text === null ? sessionStorage.removeItem(key) : sessionStorage.setItem(key, text)));
    },
  };
}

/** A browser may refuse to store, as when its storage is full or turned off: the text is then in the editor only. */
function attempt<Result>(use: () => Result): Result | null {
  try {
    return use();
  } catch (error) {
    if (error instanceof DOMException) return null;
    throw error;
  }
}

/** Has the browser ask before the tab is closed or loads another site, while there is a text that was not sent. */
function useAskBeforeLeaving(isChanged: boolean): void {
  useEffect(() => {
    if (!isChanged) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }, [isChanged]);
}
