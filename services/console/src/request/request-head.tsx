import { commandLine, requestLook } from "@planwright/client";
import { countText, hasPlaceholder, isJsonObject, type JsonValue, ownTimeText } from "@planwright/plan";
import { type FormEvent, useState } from "react";
import { Link, useLocation } from "wouter";
import { useNow } from "../data/browser.ts";
import {
  AMEND_AS_SUGGESTED,
  ANSWER_QUESTIONS,
  CANCEL,
  CREATE_PLAN,
  EXECUTE_PLAN,
  PAUSE,
  REPLAN,
  RERUN,
  RESUME,
  type RequestPage,
} from "../data/request-operations.ts";
import { type Action, useAction } from "../data/use-api.ts";
import { CopyButton, Pill, ProblemNote } from "../parts/elements.tsx";
import { agoText, instantText, lookOf, PLAN_LOOK, type Tone } from "../parts/looks.ts";
import { deskPath } from "../parts/paths.ts";
import { requestPath } from "./paths.ts";
import type { Shown } from "./use-shown.ts";

/** The head of the page: the sentence, the status, its cause, and the next action. */
export function RequestHead({
  request,
  shown: { plan, versions, version: shownVersion, isNow },
  readAt,
  onSelect,
  onVersion,
}: {
  request: RequestPage;
  shown: Shown;
  readAt: number | null;
  onSelect: (stepId: string) => void;
  onVersion: (version: number) => void;
}) {
  const now = useNow();
  return (
    <header className="request-head">
      <div className="request-line">
        <h1 dir="auto">{request.title}</h1>
        <Pill look={isNow ? requestLook(request) : lookOf(PLAN_LOOK, plan?.status ?? "not begun")} />
      </div>
      <p className="request-facts">
        <code>{request.requestId}</code> <CopyButton text={request.requestId} label="copy id" />
        <CopyButton text={commandLine("planwright", "debug", request.requestId)} label="copy CLI" />
        <Link href={deskPath(request.requestId)}>open at the desk</Link>
        {versions.length > 1 ? (
          <label>
            version{" "}
            <select value={shownVersion} onChange={({ target }) => onVersion(Number(target.value))}>
              {versions.map(({ version, status }) => (
                <option key={version} value={version}>
                  {version} {lookOf(PLAN_LOOK, status).word}
                </option>
              ))}
            </select>
          </label>
        ) : (
          <span>version {shownVersion}</span>
        )}
        {plan && (
          <span>
            {countText(plan.counts.total, "step")}: {plan.counts.completed} completed
            {plan.counts.failed > 0 && `, ${plan.counts.failed} failed`}
            {plan.counts.skipped > 0 && `, ${plan.counts.skipped} skipped`}
            {plan.counts.inDoubt > 0 && `, ${plan.counts.inDoubt} in doubt`}
          </span>
        )}
        {typeof plan?.durationMs === "number" && (
          <span>{ownTimeText(plan.durationMs, plan.waitedForPeopleMs)}</span>
        )}
        <span title={request.createdAt}>asked {agoText(request.createdAt, now)}</span>
        {readAt !== null && <span aria-live="off">seen {agoText(new Date(readAt).toISOString(), now)}</span>}
        {request.tags.map((tag) => (
          <span key={tag} className="tag">
            {tag}
          </span>
        ))}
      </p>
      {isNow && <NextAction request={request} onSelect={onSelect} />}
      {isNow && request.answer !== null && (
        <p className="answer" dir="auto">
          {request.answer}
        </p>
      )}
    </header>
  );
}

type Diagnosis = RequestPage["diagnosis"];
type Next = Diagnosis["next"][number];

const TONE: Readonly<Record<string, Tone>> = {
  NONE: "good",
  PROGRESS: "active",
  ATTENTION: "attention",
  FAILURE: "bad",
};

/** The cause of the request's status, and the next actions, the best first. */
function NextAction({ request, onSelect }: { request: RequestPage; onSelect: (stepId: string) => void }) {
  const { cause, reasons, stepKeys, since, next } = request.diagnosis;
  // The questions are below, each with its field.
  const shownReasons = request.status === "NEEDS_INPUT" ? [] : reasons;
  return (
    <section
      className={`next-action tone-${TONE[cause.severity] ?? "quiet"}`}
      aria-label="Cause and next action"
    >
      <p className="cause" dir="auto">
        {cause.message}
        {since !== null && <span className="quiet-text"> since {instantText(since)}</span>}
      </p>
      {shownReasons.map((reason) => (
        <p key={reason} className="reason" dir="auto">
          {reason}
        </p>
      ))}
      {stepKeys.length > 0 && (
        <p>
          {stepKeys.map((key) => (
            <button key={key} type="button" className="link-button" onClick={() => onSelect(stepIdOf(key))}>
              show {key}
            </button>
          ))}
        </p>
      )}
      {request.status === "NEEDS_INPUT" ? (
        <Questions request={request} />
      ) : (
        <Actions request={request} next={next} onSelect={onSelect} />
      )}
    </section>
  );
}

/** Approving and refusing begin with the same button, so the second of these actions is left out. */
function withoutRepeats(next: readonly Next[]): Next[] {
  return next.filter(({ operation }, index) =>
    operation !== "approve" && operation !== "resolveInDoubt"
      ? true
      : next.findIndex((other) => other.operation === operation) === index,
  );
}

function Actions({
  request,
  next,
  onSelect,
}: {
  request: RequestPage;
  next: readonly Next[];
  onSelect: (stepId: string) => void;
}) {
  const { buttonOf, pause, cancel, isPending, problem } = useNextActions(request, onSelect);
  const { requestId, plan, status } = request;
  const isRunning = status === "EXECUTING" && plan?.status !== "CANCELLING";
  const canCancel =
    !next.some(({ operation }) => operation === "cancel") &&
    (isRunning || status === "PLANNING" || plan?.status === "READY");
  return (
    <>
      <ol className="next-steps">
        {withoutRepeats(next).map((one, index) => (
          <li key={one.description}>
            <span dir="auto">{one.description}</span>{" "}
            <HowToDoIt
              request={request}
              next={one}
              button={buttonOf(one)}
              isFirst={index === 0}
              isPending={isPending}
            />
          </li>
        ))}
      </ol>
      <p className="actions">
        {isRunning && plan?.status !== "PAUSED" && (
          <button type="button" disabled={isPending} onClick={() => void pause.run({ requestId })}>
            Pause
          </button>
        )}
        {canCancel && (
          <button type="button" disabled={isPending} onClick={() => void cancel.run({ requestId })}>
            Cancel
          </button>
        )}
      </p>
      {problem && <ProblemNote problem={problem} />}
    </>
  );
}

/** The button of an action; the command to copy when there is none; for a sentence, its limits first. */
function HowToDoIt({
  request,
  next: { operation, arguments: given, command },
  button,
  isFirst,
  isPending,
}: {
  request: RequestPage;
  next: Next;
  button: NextButton | undefined;
  isFirst: boolean;
  isPending: boolean;
}) {
  if (operation === "createPlan" && !button)
    return <SendAgain request={request} suggested={isJsonObject(given) ? given["limits"] : undefined} />;
  const { press } = button ?? {};
  if (button && press)
    return (
      <button
        type="button"
        className={isFirst ? "primary-button" : ""}
        disabled={isPending}
        onClick={() => void press()}
      >
        {button.label}
      </button>
    );
  const text = commandLine("planwright", ...command);
  return (
    <>
      <code>{text}</code> <CopyButton text={text} label="copy" />
    </>
  );
}

function Questions({ request: { requestId, openQuestions } }: { request: RequestPage }) {
  const [answers, setAnswers] = useState<Record<string, string>>({});
  const { run, isPending, problem } = useAction(ANSWER_QUESTIONS);
  const texts = openQuestions.map(({ id }) => answers[id] ?? "");
  function send(event: FormEvent): void {
    event.preventDefault();
    void run({ requestId, answers: texts });
  }
  return (
    <form onSubmit={send} className="questions">
      {openQuestions.map(({ id, question, stepId, parameter }) => (
        <label key={id}>
          <span dir="auto">{question}</span>
          {stepId !== null && (
            <span className="quiet-text">
              {stepId}.{parameter}
            </span>
          )}
          <input
            value={answers[id] ?? ""}
            maxLength={20_000}
            onChange={({ target }) => setAnswers({ ...answers, [id]: target.value })}
          />
        </label>
      ))}
      <p className="actions">
        <button
          type="submit"
          className="primary-button"
          disabled={isPending || texts.some((text) => text.trim() === "")}
        >
          Answer: the plan continues
        </button>
      </p>
      {problem && <ProblemNote problem={problem} />}
    </form>
  );
}

/** The limits of model calls, and the labels of their fields. */
const LIMITS = [
  { limit: "maxModelCalls", label: "model calls at most", step: 1 },
  { limit: "maxTokens", label: "tokens at most", step: 1 },
  { limit: "maxCostUsd", label: "US dollars at most", step: "any" },
] as const;

/**
 * Sends the sentence of a request without a plan as a new request: unchanged, in other words, or with other
 * limits of model calls. Its tags and options stay the same.
 */
function SendAgain({ request, suggested }: { request: RequestPage; suggested: unknown }) {
  const [, navigate] = useLocation();
  const [query, setQuery] = useState(request.query ?? "");
  const [limits, setLimits] = useState(limitsOf(suggested));
  const { run, isPending, problem } = useAction(CREATE_PLAN);
  async function send(event: FormEvent): Promise<void> {
    event.preventDefault();
    const made = await run({
      query,
      execute: request.autoExecute,
      tags: request.tags,
      maxReplans: request.maxReplans,
      answer: request.answerRequested,
      limits: Object.fromEntries(limits.map(({ limit, value }) => [limit, Number(value)])),
      idempotencyKey: crypto.randomUUID(),
    });
    if (!made) return;
    const { requestId } = made.createPlan;
    navigate(requestPath({ requestId, version: null, stepId: null, view: "graph" }));
  }
  return (
    <form className="send-again" onSubmit={(event) => void send(event)}>
      <label>
        <span className="hidden">Sentence</span>
        <textarea
          rows={2}
          dir="auto"
          maxLength={10_000}
          value={query}
          onChange={({ target }) => setQuery(target.value)}
        />
      </label>
      <p className="actions">
        {limits.map(({ limit, label, step, value }) => (
          <label key={limit}>
            {label}{" "}
            <input
              type="number"
              min={0}
              step={step}
              required
              value={value}
              onChange={({ target }) =>
                setLimits(limits.map((one) => (one.limit === limit ? { ...one, value: target.value } : one)))
              }
            />
          </label>
        ))}
        <button type="submit" className="primary-button" disabled={isPending || query.trim() === ""}>
          Send it as a new request
        </button>
      </p>
      {problem && <ProblemNote problem={problem} />}
    </form>
  );
}

/** The limits that a diagnosis suggests, each as the text of its field. */
function limitsOf(suggested: unknown) {
  const given = isJsonObject(suggested) ? suggested : {};
  return LIMITS.flatMap((field) => {
    const value = given[field.limit];
    return typeof value === "number" ? [{ ...field, value: `${value}` }] : [];
  });
}

/** A button; without `press` it can do nothing at the moment. */
interface NextButton {
  label: string;
  press: (() => unknown) | undefined;
}

/** The actions that a diagnosis may name, as buttons. */
function useNextActions(request: RequestPage, onSelect: (stepId: string) => void) {
  const { requestId, plan, version } = request;
  const [, navigate] = useLocation();
  const cancel = useAction(CANCEL);
  const pause = useAction(PAUSE);
  const resume = useAction(RESUME);
  const execute = useAction(EXECUTE_PLAN);
  const rerun = useAction(RERUN);
  const replan = useAction(REPLAN);
  const amend = useAction(AMEND_AS_SUGGESTED);
  const newVersion = () => ({ requestId, fromVersion: version, idempotencyKey: crypto.randomUUID() });
  const [stepKey] = request.diagnosis.stepKeys;
  const show = stepKey === undefined ? undefined : () => onSelect(stepIdOf(stepKey));
  const toDesk = () => navigate(deskPath(requestId));
  const buttons: Readonly<Record<string, NextButton>> = {
    approve: { label: "Look at the call and decide", press: show },
    resolveInDoubt: { label: "Look at the call and say what happened", press: show },
    rerun: {
      label:
        request.status === "FAILED" && (plan === null || plan.status === "INVALID")
          ? "Have it planned again"
          : "Run again what did not complete",
      press: () => rerun.run(newVersion()),
    },
    replan: { label: "Have the rest planned again", press: () => replan.run(newVersion()) },
    submitPlan: {
      label: plan ? "Change the plan at the desk" : "Write a plan at the desk",
      press: toDesk,
    },
    cancel: { label: "Cancel", press: () => cancel.run({ requestId }) },
    fleet: { label: "Look at the fleet", press: () => navigate("/fleet") },
    resume: { label: "Resume", press: () => resume.run({ requestId }) },
    executePlan: {
      label: "Execute the plan",
      press: plan ? () => execute.run({ planId: plan.planId }) : undefined,
    },
  };
  const all: Action<unknown, never>[] = [cancel, pause, resume, execute, rerun, replan, amend];
  return {
    cancel,
    pause,
    isPending: all.some((action) => action.isPending),
    problem: all.find((action) => action.problem)?.problem,
    /** The button of an action; undefined for one that has none here. */
    buttonOf: ({ operation, arguments: given }: SuggestedAction): NextButton | undefined => {
      // The user has to write a value first.
      if (operation !== "resolveInDoubt" && hasPlaceholder(given))
        return { label: "Change the plan at the desk", press: toDesk };
      const acceptRepeat = operation === "rerun" ? acceptedRepeats(given) : [];
      if (acceptRepeat.length > 0) {
        return {
          label: `Call ${acceptRepeat.join(", ")} once more, and run what did not complete`,
          press: () => rerun.run({ ...newVersion(), acceptRepeat }),
        };
      }
      const amendment = operation === "amendPlan" ? suggestedAmendment(given) : undefined;
      if (!amendment) return buttons[operation];
      return {
        label: amendment.label,
        press: () => amend.run({ ...newVersion(), ...amendment.change }),
      };
    },
  };
}

type SuggestedAction = RequestPage["diagnosis"]["next"][number];

/** The steps that a suggested rerun calls once more although they may have acted. */
export function acceptedRepeats(given: unknown): string[] {
  const named = isJsonObject(given) ? given["acceptRepeat"] : undefined;
  return Array.isArray(named) ? named.filter((id) => typeof id === "string") : [];
}

/** The id of the step of a key; for an item, of its list. */
function stepIdOf(key: string): string {
  return key.replace(/\[\d+\]$/, "");
}

/** A new version that a diagnosis suggests, and the label of its button. */
interface SuggestedAmendment {
  label: string;
  /** The arguments that differ between amendments. */
  change: { restoreVersion: number } | { patch: JsonValue };
}

/** Reads the arguments of a suggested amendPlan; undefined if they are something else. */
function suggestedAmendment(given: unknown): SuggestedAmendment | undefined {
  const { restoreVersion = null, patch = null } = isJsonObject(given) ? given : {};
  if (typeof restoreVersion === "number")
    return { label: `Go back to version ${restoreVersion}`, change: { restoreVersion } };
  const [first] = Array.isArray(patch) ? patch : [];
  const tool = isJsonObject(first) ? first["value"] : undefined;
  return typeof tool === "string" ? { label: `Call ${tool} instead`, change: { patch } } : undefined;
}
