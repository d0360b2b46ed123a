import type { Client } from "@planwright/client";
import { countText, numberText } from "@planwright/plan";
import { useCallback, useEffect, useState } from "react";
import {
  type BulkFacts,
  type BulkVariables,
  CANCEL_REQUESTS,
  RERUN_REQUESTS,
  RESUME_REQUESTS,
  RETRY_FAILED_REQUESTS,
} from "../data/list-operations.ts";
import { ACTED, type ApiProblem, acted, problemOf, useClient } from "../data/use-api.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Pill, ProblemNote } from "../parts/elements.tsx";
import { lookOf, REQUEST_LOOK } from "../parts/looks.ts";

type BulkResult = BulkFacts["results"][number];

/** The API changes no more at once. */
export const MAX_BULK = 100;

/** The requests of a bulk action: those that match a filter, or those that are named. */
type BulkSubject = Pick<BulkVariables, "filter"> | Pick<BulkVariables, "requests">;

/** Lists first the requests of a bulk action, then acts on exactly those. */
export function BulkDialog({
  kind,
  subject,
  repeats,
  onClose,
}: {
  kind: BulkKind;
  subject: BulkSubject;
  /** What the action calls once more: full sentences. */
  repeats?: string;
  onClose: () => void;
}) {
  const words = BULK[kind];
  const { preview, change, answer, problem, isPending } = useBulk(kind, subject);
  const [deselected, setDeselected] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => void preview(null), [preview]);
  const chosen =
    answer?.results.filter(({ requestId, changed }) => changed && !deselected.has(requestId)) ?? [];
  const isDone = answer !== null && !answer.dryRun;
  return (
    <Dialog label={words.title} onClose={onClose}>
      <h2>{words.title}</h2>
      <p role="status">
        {!answer && !problem && "Reading the requests …"}
        {answer && !isDone && previewText(answer, words.noun)}
        {isDone && resultText(answer, words.done)}
      </p>
      {!isDone && <p className="quiet-text">{repeats ?? words.repeats}</p>}
      {problem && <ProblemNote problem={problem} />}
      {answer && answer.results.length > 0 && (
        <ul className="bulk-list">
          {answer.results.map((result) => (
            <Result
              key={result.requestId}
              result={result}
              isChosen={chosen.includes(result)}
              isDone={isDone}
              onToggle={() => setDeselected((before) => toggled(before, result.requestId))}
            />
          ))}
        </ul>
      )}
      <p className="actions">
        {!isDone && (
          <button
            type="button"
            className="primary-button"
            disabled={isPending || chosen.length === 0}
            onClick={() => void change(chosen)}
          >
            {words.button} {countText(chosen.length, "request")}
          </button>
        )}
        {answer?.hasMore && (
          <button type="button" disabled={isPending} onClick={() => void preview(answer.endCursor)}>
            Show the next ones
          </button>
        )}
        <button type="button" onClick={onClose}>
          {isDone ? "Close" : "Change nothing"}
        </button>
      </p>
    </Dialog>
  );
}

function Result({
  result: { requestId, title, status, changed, error },
  isChosen,
  isDone,
  onToggle,
}: {
  result: BulkResult;
  isChosen: boolean;
  isDone: boolean;
  onToggle: () => void;
}) {
  return (
    <li>
      <label className="bulk-row">
        <input
          type="checkbox"
          checked={isDone ? changed : isChosen}
          disabled={isDone || !changed}
          onChange={onToggle}
        />
        <span className="bulk-query" dir="auto">
          {title ?? requestId}
        </span>
        {status !== null && <Pill look={lookOf(REQUEST_LOOK, status)} />}
      </label>
      {error && (
        <p className="quiet-text">
          <code>{error.code}</code> {error.message} {error.remedy}
        </p>
      )}
    </li>
  );
}

function previewText({ changed, refused, mayRepeat, hasMore }: BulkFacts, noun: string): string {
  if (changed + refused === 0) return "No request matches: nothing would be done.";
  const more = hasMore ? " More match: these are the first." : "";
  const not =
    refused === 0
      ? ""
      : ` ${countText(refused, "request")} would be refused, each with its reason.${actedText(mayRepeat)}`;
  return `${countText(changed, "request")} would be ${noun}.${not}${more}`;
}

function actedText(mayRepeat: number): string {
  return mayRepeat === 0 ? "" : ` ${mayRepeat} of them may have acted: open each to decide.`;
}

function resultText({ changed, refused }: BulkFacts, done: string): string {
  return `${countText(changed, "request")} ${done}.${refused === 0 ? "" : ` ${numberText(refused)} refused.`}`;
}

function toggled(names: ReadonlySet<string>, name: string): Set<string> {
  const next = new Set(names);
  if (!next.delete(name)) next.add(name);
  return next;
}

/** A bulk action in two calls: a preview that changes nothing, and the change of the previewed requests. */
function useBulk(kind: BulkKind, subject: BulkSubject) {
  const client = useClient();
  const [answer, setAnswer] = useState<BulkFacts | null>(null);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const [isPending, setIsPending] = useState(false);
  const key = JSON.stringify(subject);
  const send = useCallback(
    async (variables: BulkVariables) => {
      setIsPending(true);
      try {
        setAnswer(await SEND[kind](client, variables));
        setProblem(null);
        if (!variables.dryRun) acted.dispatchEvent(new Event(ACTED));
      } catch (error) {
        setProblem(problemOf(error, variables.dryRun ? "read" : "command"));
      } finally {
        setIsPending(false);
      }
    },
    [client, kind],
  );
  return {
    answer,
    problem,
    isPending,
    preview: useCallback(
      (after: string | null) => send({ ...(JSON.parse(key) as BulkSubject), dryRun: true, after }),
      [send, key],
    ),
    change: (chosen: BulkFacts["results"]) =>
      send({
        requests: chosen.flatMap(({ requestId, version }) =>
          version === null ? [] : [{ requestId, version }],
        ),
        dryRun: false,
        idempotencyKey: crypto.randomUUID(),
      }),
  };
}

const SEND: Record<BulkKind, (client: Client, variables: BulkVariables) => Promise<BulkFacts>> = {
  async cancel(client, { idempotencyKey: _unused, ...variables }) {
    return (await client.execute(CANCEL_REQUESTS, variables)).cancelRequests;
  },
  async resume(client, { idempotencyKey: _unused, ...variables }) {
    return (await client.execute(RESUME_REQUESTS, variables)).resumeRequests;
  },
  async rerun(client, variables) {
    return (await client.execute(RERUN_REQUESTS, variables)).rerunRequests;
  },
  async retry(client, variables) {
    return (await client.execute(RETRY_FAILED_REQUESTS, variables)).retryFailedRequests;
  },
};

/** The actions on many requests at once. */
export type BulkKind = "cancel" | "resume" | "retry" | "rerun";

/** The texts of a bulk action. */
interface BulkWords {
  title: string;
  /** Completes the preview: "3 requests would be …". */
  noun: string;
  button: string;
  /** What it calls once more. */
  repeats: string;
  /** Completes the result: "3 requests …". */
  done: string;
}

export const BULK: Record<BulkKind, BulkWords> = {
  retry: {
    title: "Run again what did not complete",
    noun: "run again: completed steps are carried over",
    button: "Run again",
    repeats: "Completed steps are carried over and not called again. Steps without a result are called.",
    done: "run again",
  },
  cancel: {
    title: "Cancel",
    noun: "cancelled",
    button: "Cancel",
    repeats: "Nothing is called once more. Calls that are running end first, and keep what they did.",
    done: "cancelled",
  },
  resume: {
    title: "Resume",
    noun: "resumed",
    button: "Resume",
    repeats: "Completed steps are not called again. The calls that the pause held back are made.",
    done: "resumed",
  },
  rerun: {
    title: "Run ended requests again",
    noun: "run again as a new version",
    button: "Run again",
    repeats: "Completed steps are carried over and not called again. Steps without a result are called.",
    done: "run again",
  },
};
