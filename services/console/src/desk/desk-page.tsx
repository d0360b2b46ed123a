import type { StepRun } from "@planwright/client";
import {
  countText,
  durationText,
  parseExactJson,
  stateLook,
  stringifyExactJson,
  visibleText,
} from "@planwright/plan";
import "./desk.css";
import { type FormEvent, useMemo, useState } from "react";
import { Link, useLocation } from "wouter";
import { useNow, useTitle } from "../data/browser.ts";
import {
  type Amendment,
  type DeskPlan,
  type DraftFacts,
  type DraftingCall,
  FOLLOW_DRAFT,
  READ_DOCUMENT,
  READ_DRAFTING,
  SUBMIT_PLAN,
} from "../data/desk-operations.ts";
import { CREATE_PLAN } from "../data/request-operations.ts";
import { type ApiProblem, useAction, useRead, useRegularRead } from "../data/use-api.ts";
import { useStream } from "../data/use-stream.ts";
import type { ShownDiagnostic } from "../parts/diagnostics.tsx";
import { Pill, ProblemNote } from "../parts/elements.tsx";
import { lookOf, PLAN_LOOK, REQUEST_LOOK } from "../parts/looks.ts";
import { deskPath } from "../parts/paths.ts";
import { requestPath } from "../request/paths.ts";
import { AmendBar, EffectsLine } from "./amend-bar.tsx";
import { Bench, type BenchState, DraftGraph, type Trouble } from "./bench.tsx";
import { draftSteps, partialDocument } from "./draft-steps.ts";

/** The initial text of a new plan. */
const EMPTY_PLAN = `{
  "steps": [
    
  ]
}
`;

/** The page to write and change plans, and to look at them before they run. */
export function DeskPage({ requestId }: { requestId: string | null }) {
  useTitle("Plan desk");
  return requestId === null ? <NewPlan /> : <DraftOfRequest key={requestId} requestId={requestId} />;
}

function NewPlan() {
  return (
    <main className="desk">
      <header className="desk-head">
        <h1>Plan desk</h1>
        <SentenceForm />
      </header>
      <Bench initialText={EMPTY_PLAN} keptAt="new" base={null} baseDiagnostics={[]}>
        {(bench) => <SubmitBar {...bench} />}
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
        <Bench initialText={EMPTY_PLAN} keptAt={requestId} base={null} baseDiagnostics={[]}>
          {(bench) => <SubmitBar {...bench} sentence={draft.query ?? ""} />}
        </Bench>
      )}
      {plan && (
        <Bench
          key={plan.planId}
          initialText={textOf(plan)}
          keptAt={plan.planId}
          base={plan}
          baseDiagnostics={plan.diagnostics as ShownDiagnostic[]}
          trouble={troubleOf(draft, plan)}
          progress={progressOf(draft, plan)}
        >
          {(bench) => (
            <AmendBar
              {...bench}
              draft={draft}
              base={plan}
              isChanged={bench.edited.text !== textOf(plan)}
              onOpen={opened.open}
              onAmended={setAmendment}
            />
          )}
        </Bench>
      )}
    </main>
  );
}

/** The step that failed first in the open version; null when none did, or another version is the current one. */
function troubleOf({ plan }: DraftFacts, opened: DeskPlan): Trouble | null {
  if (plan?.planId !== opened.planId) return null;
  const failed = plan.steps.filter(({ status, error }) => status === "FAILED" && error !== null);
  const step = failed.find(({ error }) => error?.code !== "ITEMS_FAILED") ?? failed[0];
  return step?.error ? { stepId: step.id, message: step.error.message, code: step.error.code } : null;
}

/** The steps of the open version while it is executed, and after it; null before its start. */
function progressOf({ plan }: DraftFacts, opened: DeskPlan): readonly StepRun[] | null {
  const isStarted = plan?.planId === opened.planId && plan.status !== "READY" && plan.status !== "INVALID";
  return isStarted ? plan.steps : null;
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

function DeskHead({ draft, opened }: { draft: DraftFacts; opened: DeskPlan | null }) {
  return (
    <header className="desk-head">
      <div className="request-line">
        <h1 dir="auto">{visibleText(draft.title)}</h1>
        <Pill
          look={opened ? lookOf(PLAN_LOOK, statusOf(draft, opened)) : lookOf(REQUEST_LOOK, draft.status)}
        />
      </div>
      <p className="request-facts">
        <Link href={requestPath({ requestId: draft.requestId, version: null, stepId: null, view: null })}>
          {draft.requestId}
        </Link>
        {opened && <span>version {opened.version} is open</span>}
      </p>
    </header>
  );
}

/** The status of the open version; if it is the current one, its followed status. */
function statusOf(draft: DraftFacts, opened: DeskPlan): string {
  return draft.plan?.planId === opened.planId ? draft.plan.status : opened.status;
}

function NoPlan({ draft: { requestId, status, query, questions, error } }: { draft: DraftFacts }) {
  const path = requestPath({ requestId, version: null, stepId: null, view: null });
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
      <strong dir="auto">{visibleText(error?.message ?? "There is no plan.")}</strong>{" "}
      {error && <code>{error.code}</code>}
      {typeof error?.remedy === "string" && <p>{visibleText(error.remedy)}</p>}
      {query !== null && <SentenceForm sentence={query} />}
      <p>
        Change the sentence and have it planned again, <Link href={path}>see what happened</Link>, or write
        the plan below: it becomes a new request.
      </p>
    </div>
  );
}

/**
 * The initial text of an open version: its document, or the submitted text if no plan could be read from it.
 */
function textOf({ document, raw }: DeskPlan): string {
  return document === null ? (raw ?? "") : `${stringifyExactJson(document, 2)}\n`;
}

/** Shows the steps that a new version carries over, and the effects that it repeats. */
function AmendmentNote({ amendment }: { amendment: Amendment }) {
  const { request, carried, repeated, notRepeated } = amendment;
  return (
    <div className={`note ${repeated?.length ? "tone-attention" : "tone-good"}`} role="status">
      <strong>Version {request.version} is stored.</strong>
      <Steps label="Carried over, never called again" ids={carried} />
      <Steps label="Called again, with their side effects" ids={repeated} />
      <Steps label="Not called again: their effects remain" ids={notRepeated} />
    </div>
  );
}

function Steps({ label, ids }: { label: string; ids: readonly string[] | null }) {
  if (!ids || ids.length === 0) return null;
  return (
    <p>
      {label}: <code>{ids.join(", ")}</code>
    </p>
  );
}

/** Plans a sentence and starts nothing; the draft opens at the desk. */
function SentenceForm({ sentence = "" }: { sentence?: string }) {
  const [, navigate] = useLocation();
  const [query, setQuery] = useState(sentence);
  const { run, isPending, problem } = useAction(CREATE_PLAN);
  async function send(event: FormEvent): Promise<void> {
    event.preventDefault();
    const made = await run({ query, execute: false, idempotencyKey: crypto.randomUUID() });
    if (made) navigate(deskPath(made.createPlan.requestId));
  }
  return (
    <form className="new-request" onSubmit={(event) => void send(event)}>
      <label>
        <span className="hidden">Sentence to plan</span>
        <input
          value={query}
          maxLength={10_000}
          placeholder="A sentence to plan, or write the plan"
          onChange={({ target }) => setQuery(target.value)}
        />
      </label>
      <button type="submit" disabled={isPending || query.trim() === ""}>
        Plan this sentence
      </button>
      {problem && <ProblemNote problem={problem} />}
    </form>
  );
}

/** Submits a new plan: it is executed, or stored to be executed later. */
function SubmitBar({
  edited,
  check,
  effects,
  forget,
  sentence = "",
}: BenchState & {
  /** The initial text of the sentence that the plan is for. Default: empty. */
  sentence?: string;
}) {
  const [, navigate] = useLocation();
  const [query, setQuery] = useState(sentence);
  const { run, isPending, problem } = useAction(SUBMIT_PLAN);
  const canSend = check.state === "valid" && !isPending;
  async function submit(execute: boolean): Promise<void> {
    const made = await run({
      plan: parseExactJson(edited.text) as never,
      query: query.trim() === "" ? null : query,
      execute,
      idempotencyKey: crypto.randomUUID(),
    });
    if (!made) return;
    forget();
    const { requestId } = made.submitPlan;
    navigate(
      execute ? requestPath({ requestId, version: null, stepId: null, view: null }) : deskPath(requestId),
    );
  }
  return (
    <>
      <label className="bench-words">
        <span>What it is for</span>
        <input
          value={query}
          maxLength={10_000}
          placeholder="optional, for the list"
          onChange={({ target }) => setQuery(target.value)}
        />
      </label>
      {effects !== "" && <EffectsLine effects={effects} />}
      <button type="button" disabled={!canSend} onClick={() => void submit(false)}>
        Store without executing
      </button>
      <button type="button" className="primary-button" disabled={!canSend} onClick={() => void submit(true)}>
        Submit and execute
      </button>
      {problem && <ProblemNote problem={problem} />}
    </>
  );
}

/** From one reading of the answer that is arriving to the next. */
const READ_EVERY_MS = 300;

/** A sentence while it is planned: the calls of models, and the steps that have arrived, as a graph. */
function Drafting({ draft }: { draft: DraftFacts }) {
  const now = useNow();
  const { requestId, createdAt, waitReason } = draft;
  const { data } = useRegularRead(READ_DRAFTING, { requestId }, READ_EVERY_MS);
  const calls = data?.request?.modelCallsConnection.nodes ?? [];
  const answer = answerOf(calls.at(-1));
  const read = useMemo(() => partialDocument(answer), [answer]);
  const shape = useMemo(() => JSON.stringify(draftSteps(read)), [read]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the graph is drawn again for a new shape only.
  const document = useMemo(() => read, [shape]);
  return (
    <section className="drafting" aria-label="Drafting">
      <h2>
        <span aria-hidden="true">…</span> Drafting for {durationText(now - Date.parse(createdAt))}
      </h2>
      <p className="quiet-text" role="status">
        {waitReason === null
          ? "A planner works on the sentence."
          : `${stateLook("request", { status: "PLANNING", waitReason }).word}.`}{" "}
        {document.steps.length > 0 && `${countText(document.steps.length, "step")} so far. `}
        The draft opens here.
      </p>
      <div className="drafting-panes">
        <CallList calls={calls} />
        {document.steps.length > 0 && (
          <section className="pane" aria-label="Steps so far">
            <DraftGraph
              document={document}
              base={null}
              diagnostics={NONE}
              selected={null}
              onSelect={ignore}
            />
          </section>
        )}
      </div>
    </section>
  );
}

const NONE: readonly never[] = [];
const ignore = (): void => undefined;

/** The answer of a call, or the beginning of it that has arrived; empty before that. */
function answerOf(call: DraftingCall | undefined): string {
  return call?.partialAnswer ?? call?.answer ?? "";
}

function CallList({ calls }: { calls: readonly DraftingCall[] }) {
  return (
    <ol className="draft-calls">
      {calls.map((call) => (
        <li key={call.id}>
          <strong>{call.purpose}</strong> <span className="quiet-text">{call.model}</span>{" "}
          <CallState call={call} />
          {answerOf(call) !== "" && (
            // It scrolls, so it can be reached by keyboard.
            <section aria-label={`Answer to ${call.purpose}`} tabIndex={0} className="draft-answer">
              <pre dir="auto">{visibleText(answerOf(call))}</pre>
            </section>
          )}
        </li>
      ))}
    </ol>
  );
}

function CallState({
  call: { error, endedAt, latencyMs, outputTokens, partialAnswer },
}: {
  call: DraftingCall;
}) {
  if (error) return <code>{error.code}</code>;
  if (endedAt === null) return partialAnswer === null ? "is asked …" : "answers …";
  return (
    <>
      {durationText(latencyMs)}
      {outputTokens !== null && outputTokens > 0 && (
        <span className="quiet-text"> {countText(outputTokens, "token")}</span>
      )}
    </>
  );
}
