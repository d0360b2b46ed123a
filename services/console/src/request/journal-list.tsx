import type { ResultOf } from "@planwright/client";
import { countText, durationText, isJsonObject, numberText, visibleText } from "@planwright/plan";
import { useEffect, useRef, useState } from "react";
import { READ_DRAFTS, READ_JOURNAL, READ_MODEL_CALLS, READ_MODEL_USE } from "../data/request-operations.ts";
import { type ApiProblem, problemOf, useClient, useRead } from "../data/use-api.ts";
import { Diagnostics, type ShownDiagnostic } from "../parts/diagnostics.tsx";
import { Check, ProblemNote } from "../parts/elements.tsx";
import { JsonTree } from "../parts/json-tree.tsx";
import { clockText, lookOf, PLAN_LOOK, STEP_LOOK } from "../parts/looks.ts";

type JournalEvent = ResultOf<typeof READ_JOURNAL>["events"]["nodes"][number];

/** Events of one page. */
const PAGE_SIZE = 100;
/** A page that could not be read for a passing reason is read again after this time. */
const READ_AGAIN_MS = 2_000;

/** The events of the journal. Reads the next page whenever the request has a newer entry. */
export function JournalList({
  requestId,
  seq,
  selected,
  at,
  onSelect,
  onAt,
}: {
  requestId: string;
  /** The last entry of the request. */
  seq: number;
  selected: string | null;
  /** The entry whose moment is shown; null: now. */
  at: number | null;
  onSelect: (stepId: string) => void;
  onAt: (seq: number) => void;
}) {
  const client = useClient();
  const [events, setEvents] = useState<JournalEvent[]>([]);
  const [cursor, setCursor] = useState<string | null>(null);
  const [hasMore, setHasMore] = useState(true);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const [attempt, setAttempt] = useState(0);
  const known = events.at(-1)?.seq ?? 0;

  useEffect(() => {
    if (!hasMore && known >= seq) return;
    const controller = new AbortController();
    const variables = { requestId, first: PAGE_SIZE, after: cursor };
    client.execute(READ_JOURNAL, variables, { signal: controller.signal }).then(
      ({ events: { nodes, pageInfo } }) => {
        setProblem(null);
        setEvents((before) => [...before, ...nodes]);
        setCursor(pageInfo.endCursor ?? cursor);
        setHasMore(pageInfo.hasNextPage);
      },
      (error: unknown) => controller.signal.aborted || setProblem(problemOf(error)),
    );
    return () => controller.abort();
  }, [client, requestId, cursor, hasMore, known, seq, attempt]);
  useEffect(() => {
    if (!problem?.isTemporary) return;
    const timer = setTimeout(() => setAttempt((before) => before + 1), READ_AGAIN_MS);
    return () => clearTimeout(timer);
  }, [problem]);

  const [typed, setTyped] = useState("");
  const [isFiltered, setIsFiltered] = useState(false);
  const rows = useRef<HTMLDivElement>(null);
  const failures = events.filter(isFailure);
  const wanted = typed.trim().toLowerCase();
  const shown = (isFiltered ? failures : events).filter(
    (event) => wanted === "" || searchedText(event).includes(wanted),
  );

  const note = problem && <ProblemNote problem={problem} />;
  if (events.length === 0)
    return (
      note ?? (
        <p className="empty">Nothing is recorded yet: the journal begins when a worker claims the request.</p>
      )
    );
  return (
    <div className="journal-frame">
      {note}
      <div className="list-tools">
        <label>
          <span className="hidden">Filter events</span>
          <input
            type="search"
            value={typed}
            placeholder="filter by step, event or text"
            onChange={({ target }) => setTyped(target.value)}
          />
        </label>
        {failures.length > 0 && (
          <>
            <Check isOn={isFiltered} onChange={setIsFiltered}>
              only {countText(failures.length, "failure")}
            </Check>
            <button
              type="button"
              onClick={() => rows.current?.querySelector(".is-failure")?.scrollIntoView({ block: "center" })}
            >
              Jump to the failure
            </button>
          </>
        )}
      </div>
      <div className="journal-rows" ref={rows}>
        {shown.length === 0 && <p className="empty">No event matches the filter.</p>}
        <table className="journal">
          <thead>
            <tr>
              <th>entry</th>
              <th>time (UTC)</th>
              <th>event</th>
              <th>step</th>
              <th>what</th>
              <th>by</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((event) => (
              <tr
                key={event.id}
                className={rowClass(event, selected, at)}
                aria-current={event.seq === at ? "true" : undefined}
              >
                <td>
                  <button
                    type="button"
                    className="link-button"
                    title="Show the request at this entry"
                    onClick={() => onAt(event.seq)}
                  >
                    {event.seq}
                  </button>
                </td>
                <td title={event.at}>{clockText(event.at)}</td>
                <td>
                  <code>{event.type}</code>
                </td>
                <td>
                  {event.stepId !== null && (
                    <button
                      type="button"
                      className="link-button"
                      onClick={() => onSelect(event.key ?? event.stepId ?? "")}
                    >
                      {event.key ?? event.stepId}
                    </button>
                  )}
                </td>
                <td dir="auto">{visibleText(whatHappened(event))}</td>
                <td title={event.by.id ?? undefined}>
                  {event.by.kind} <span className="quiet-text">{shortId(event.by.id)}</span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

/** A skipped step has an error too, that of the step before it. */
const isFailure = ({ error, status }: JournalEvent) =>
  status === "FAILED" || (error !== null && status !== "SKIPPED");

function searchedText(event: JournalEvent): string {
  const { type, key, stepId, by } = event;
  return [type, key, stepId, by.kind, by.id, whatHappened(event)].join(" ").toLowerCase();
}

/** The end of a worker's id, which tells workers apart; the whole one is its title. */
function shortId(id: string | null): string {
  return id === null || id.length <= 12 ? (id ?? "") : `…${id.slice(-8)}`;
}

/** Facts of events that people read, in order, with the words around them. */
const FACT_WORDS: Readonly<Record<string, (value: string) => string>> = {
  tool: (value) => value,
  outcome: (value) => value,
  durationMs: (value) => `took ${durationText(Number(value))}`,
  model: (value) => value,
  purpose: (value) => value,
  count: (value) => `${value} items`,
  unitsCount: (value) => (value === "1" ? "" : `${value} items`),
  version: (value) => `version ${value}`,
  epoch: (value) => `took the plan, lease ${value}`,
  resolution: (value) => `said: ${value}`,
  questionsCount: (value) => countText(Number(value), "question"),
  dueAt: (value) => `next at ${clockText(value)}`,
};

/** An event in words: the attempt, the new status, why, and its facts. */
function whatHappened({ type, attempt, status, error, reason, facts }: JournalEvent): string {
  const known = isJsonObject(facts) ? facts : {};
  const approved = known["approved"];
  const words = Object.entries(FACT_WORDS).flatMap(([name, wordsOf]) => {
    const value = known[name];
    return typeof value === "string" || typeof value === "number" ? [wordsOf(String(value))] : [];
  });
  return [
    attempt !== null && `attempt ${attempt}`,
    status !== null && lookOf(type === "step.changed" ? STEP_LOOK : PLAN_LOOK, status).word,
    typeof approved === "boolean" && (approved ? "approved" : "refused"),
    error && `${error.message} (${error.code})`,
    reason,
    ...words,
    words.length === 0 && status === null && !error && reason === null && EVENT_WORDS[type],
  ]
    .filter(Boolean)
    .join(" · ");
}

/** What an event without facts means. */
const EVENT_WORDS: Readonly<Record<string, string>> = {
  "attempt.ended": "answered",
  "execution.asked": "the execution was asked for",
  "lease.released": "the worker gave the plan back",
  "cancel.asked": "a cancel was asked for",
  "pause.asked": "a pause was asked for",
  "resume.asked": "to continue was asked for",
  "planning.began": "a planner began",
};

/** Marks events of the selected step, failures, and events later than the shown moment. */
function rowClass(event: JournalEvent, selected: string | null, at: number | null): string {
  const { stepId, seq } = event;
  const classes = [
    stepId !== null && stepId === selected && "is-selected",
    isFailure(event) && "is-failure",
    at !== null && seq > at && "is-later",
  ];
  return classes.filter(Boolean).join(" ");
}

type ModelCall = NonNullable<
  ResultOf<typeof READ_MODEL_CALLS>["request"]
>["modelCallsConnection"]["nodes"][number];

/**
 * The model calls with prompts and answers, their share of the limits, and the plans that were read from the
 * answers.
 */
export function ModelCalls({ requestId, seq }: RequestAtEntry) {
  const { data, problem } = useRead(READ_MODEL_CALLS, { requestId }, seq);
  if (problem) return <ProblemNote problem={problem} />;
  if (!data) return <p className="empty">Reading …</p>;
  const calls = data.request?.modelCallsConnection.nodes ?? [];
  if (calls.length === 0) return <p className="empty">No model was asked for this request.</p>;
  return (
    <>
      <ModelBudget requestId={requestId} seq={seq} />
      <ReadDrafts requestId={requestId} seq={seq} />
      <CallList calls={calls} />
    </>
  );
}

function CallList({ calls }: { calls: readonly ModelCall[] }) {
  return (
    <ol className="model-calls">
      {calls.map((call) => (
        <li key={call.id}>
          <header>
            <strong>{call.purpose}</strong> <code>{call.model}</code>
            <span className="quiet-text">
              {[
                call.endedAt === null ? null : durationText(call.latencyMs),
                call.inputTokens !== null && `${countText(call.inputTokens, "token")} in`,
                call.cachedInputTokens ? `${numberText(call.cachedInputTokens)} of them cached` : null,
                call.outputTokens !== null && `${countText(call.outputTokens, "token")} out`,
                call.costUsd !== null && `$${call.costUsd.toFixed(4)}`,
                call.endedAt === null && "no answer yet, or its planner died",
              ]
                .filter(Boolean)
                .join(" · ")}
            </span>
          </header>
          {call.error && (
            <p className="note tone-bad">
              {call.error.message} <code>{call.error.code}</code>
            </p>
          )}
          {call.messages.map((message, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: messages of a recorded call never change.
            <details key={index}>
              <summary>
                {message.role}, {countText(message.content.length, "character")}
              </summary>
              <pre dir="auto">{visibleText(message.content)}</pre>
            </details>
          ))}
          <details open>
            <summary>answer</summary>
            <pre dir="auto">{call.answer === "" ? "(empty)" : visibleText(call.answer)}</pre>
          </details>
        </li>
      ))}
    </ol>
  );
}

type Draft = NonNullable<ResultOf<typeof READ_DRAFTS>["request"]>["plansConnection"]["nodes"][number];

/**
 * The newest versions that a model made: its answer beside the plan that was read from it, with the
 * diagnostics of that plan.
 */
function ReadDrafts({ requestId, seq }: RequestAtEntry) {
  const { data } = useRead(READ_DRAFTS, { requestId }, seq);
  const drafts = (data?.request?.plansConnection.nodes ?? []).filter(
    ({ origin }) => origin.kind !== "submitted",
  );
  if (drafts.length === 0) return null;
  return (
    <section aria-label="What was read from the answers" className="read-drafts">
      {drafts.map((draft, index) => (
        <details key={draft.version} open={index === 0}>
          <summary>{summaryOf(draft)}</summary>
          <Diagnostics diagnostics={draft.diagnostics as ShownDiagnostic[]} />
          <div className="beside">
            <figure>
              <figcaption>The answer</figcaption>
              <pre dir="auto">{draft.raw === null ? "(none is stored)" : visibleText(draft.raw)}</pre>
            </figure>
            <figure>
              <figcaption>The plan that was read from it</figcaption>
              {draft.document === null ? (
                <p className="empty">No plan could be read from it.</p>
              ) : (
                <JsonTree value={draft.document} label={`Plan of version ${draft.version}`} />
              )}
            </figure>
          </div>
        </details>
      ))}
    </section>
  );
}

function summaryOf({ version, diagnostics }: Draft): string {
  const found = diagnostics.length === 0 ? "nothing wrong in it" : countText(diagnostics.length, "problem");
  return `Version ${version}: the answer and the plan, ${found}`;
}

/** A request, which is read again after each entry of its journal. */
interface RequestAtEntry {
  requestId: string;
  /** The last entry. */
  seq: number;
}

/** The part of a request's limits that its model calls used; empty if unknown, as in a file. */
function ModelBudget({ requestId, seq }: RequestAtEntry) {
  const { data } = useRead(READ_MODEL_USE, { requestId }, seq);
  if (!data?.request) return null;
  const { limits, spent, reserved } = data.request.modelUse;
  const kinds = [
    { what: "calls", limit: limits.maxModelCalls, spent: spent.modelCalls, reserved: reserved.modelCalls },
    { what: "tokens", limit: limits.maxTokens, spent: spent.tokens, reserved: reserved.tokens },
    { what: "USD", limit: limits.maxCostUsd, spent: spent.costUsd, reserved: reserved.costUsd },
  ];
  return (
    <dl className="model-budget">
      {kinds.map((kind) => (
        <div key={kind.what}>
          <dt>{kind.what}</dt>
          <dd>
            {amount(kind.spent)}
            {kind.limit === null ? " spent, no limit" : ` of ${amount(kind.limit)}`}
            {kind.reserved > 0 && ` (and ${amount(kind.reserved)} reserved)`}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** A count, or an amount of dollars. */
const amount = (value: number) => numberText(value, 4);
