import { stringifyExactJson } from "@planwright/plan";
import "./desk.css";
import { useState } from "react";
import { Link } from "wouter";
import type { ApiProblem } from "../data/api-problem.ts";
import {
  type Amendment,
  type DraftFacts,
  FOLLOW_DRAFT,
  type PlanDocument,
  READ_DOCUMENT,
} from "../data/desk-operations.ts";
import { useRead } from "../data/use-read.ts";
import { useStream } from "../data/use-stream.ts";
import { lookOf, PLAN_LOOK, REQUEST_LOOK } from "../design/statuses.ts";
import type { Diagnostic } from "../parts/diagnostic.ts";
import { ProblemNote } from "../parts/problem-note.tsx";
import { StatusBadge } from "../parts/status-badge.tsx";
import { requestPath } from "../request/paths.ts";
import { AmendBar } from "./amend-bar.tsx";
import { AmendmentNote } from "./amendment-note.tsx";
import { Bench } from "./bench.tsx";
import { Drafting } from "./drafting.tsx";
import { SentenceForm } from "./sentence-form.tsx";
import { SubmitBar } from "./submit-bar.tsx";

/** The initial text of a new plan. */
const EMPTY_PLAN = `{
  "steps": [
    
  ]
}
`;

/** The page to write and change plans, and to look at them before they run. */
export function DeskPage({ requestId }: { requestId: string | null }) {
  return requestId === null ? <NewPlan /> : <DraftOfRequest key={requestId} requestId={requestId} />;
}

function NewPlan() {
  return (
    <main className="desk">
      <header className="desk-head">
        <h1>Plan desk</h1>
        <SentenceForm />
      </header>
      <Bench initialText={EMPTY_PLAN} base={null} baseDiagnostics={[]}>
        {(edited, check) => <SubmitBar edited={edited} check={check} />}
      </Bench>
    </main>
  );
}

function DraftOfRequest({ requestId }: { requestId: string }) {
  const { draft, problem } = useDraft(requestId);
  const opened = useOpenedVersion(draft);
  const [amendment, setAmendment] = useState<Amendment | null>(null);
  if (!draft)
    return (
      <main className="desk">
        <h1 className="hidden">Plan desk</h1>
        {problem ? <ProblemNote problem={problem} /> : <p className="empty">Reading {requestId} …</p>}
      </main>
    );
  const { plan } = opened;
  return (
    <main className="desk">
      <DeskHead draft={draft} opened={plan} />
      {problem && <ProblemNote problem={problem} />}
      {opened.problem && <ProblemNote problem={opened.problem} />}
      {amendment && <AmendmentNote amendment={amendment} />}
      {draft.plan === null && draft.status === "PLANNING" && <Drafting draft={draft} />}
      {draft.plan === null && draft.status !== "PLANNING" && <NoPlan draft={draft} />}
      {draft.plan === null && draft.status === "FAILED" && (
        <Bench initialText={EMPTY_PLAN} base={null} baseDiagnostics={[]}>
          {(edited, check) => <SubmitBar edited={edited} check={check} sentence={draft.query ?? ""} />}
        </Bench>
      )}
      {plan && (
        <Bench
          key={plan.planId}
          initialText={textOf(plan)}
          base={plan}
          baseDiagnostics={plan.diagnostics as Diagnostic[]}
        >
          {(edited, check) => (
            <AmendBar
              draft={draft}
              base={plan}
              isChanged={edited.text !== textOf(plan)}
              edited={edited}
              check={check}
              onOpen={opened.open}
              onAmended={setAmendment}
            />
          )}
        </Bench>
      )}
    </main>
  );
}

/** Follows the request of the desk. */
function useDraft(requestId: string) {
  const [draft, setDraft] = useState<DraftFacts | null>(null);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  useStream(
    FOLLOW_DRAFT,
    { requestId },
    {
      onResult: ({ requestUpdated }) => {
        setDraft(requestUpdated);
        setProblem(null);
      },
      onProblem: setProblem,
    },
  );
  return { draft, problem };
}

/**
 * The version that is open at the desk. It stays open when a newer one is stored: edits are kept until the
 * user opens the newer one.
 */
function useOpenedVersion(draft: DraftFacts | null) {
  const [planId, setPlanId] = useState<string | null>(null);
  const first = draft?.plan?.planId ?? null;
  if (planId === null && first !== null) setPlanId(first);
  const { data, problem } = useRead(READ_DOCUMENT, planId === null ? null : { planId });
  const plan = data?.plan ?? null;
  return {
    plan: plan?.planId === planId ? plan : null,
    problem,
    open: setPlanId,
  };
}

function DeskHead({ draft, opened }: { draft: DraftFacts; opened: PlanDocument | null }) {
  return (
    <header className="desk-head">
      <div className="request-line">
        <h1 dir="auto">{draft.title}</h1>
        <StatusBadge
          look={opened ? lookOf(PLAN_LOOK, statusOf(draft, opened)) : lookOf(REQUEST_LOOK, draft.status)}
        />
      </div>
      <p className="request-facts">
        <Link href={requestPath({ requestId: draft.requestId, version: null, stepId: null, view: "graph" })}>
          {draft.requestId}
        </Link>
        {opened && <span>version {opened.version} is open</span>}
      </p>
    </header>
  );
}

/** The status of the open version; if it is the current one, its followed status. */
function statusOf(draft: DraftFacts, opened: PlanDocument): string {
  return draft.plan?.planId === opened.planId ? draft.plan.status : opened.status;
}

function NoPlan({ draft: { requestId, status, questions, error } }: { draft: DraftFacts }) {
  const path = requestPath({ requestId, version: null, stepId: null, view: "graph" });
  if (status === "NEEDS_INPUT")
    return (
      <div className="note tone-attention">
        <strong>The planner needs answers before it continues.</strong>
        <ul>
          {questions.map((question) => (
            <li key={question} dir="auto">
              {question}
            </li>
          ))}
        </ul>
        <Link href={path}>Answer</Link>
      </div>
    );
  return (
    <div className="note tone-bad">
      <strong dir="auto">{error?.message ?? "There is no plan."}</strong> {error && <code>{error.code}</code>}
      {typeof error?.remedy === "string" && <p>{error.remedy}</p>}
      <p>
        <Link href={path}>See what happened</Link>, or write a plan for it: it becomes a new request.
      </p>
    </div>
  );
}

/**
 * The initial text of an open version: its document, or the submitted text if no plan could be read from it.
 */
function textOf({ document, raw }: PlanDocument): string {
  return document === null ? (raw ?? "") : `${stringifyExactJson(document, 2)}\n`;
}
