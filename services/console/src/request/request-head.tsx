import { pendingControl, requestLook } from "@planwright/client";
import {
  countText,
  hasPlaceholder,
  isActing,
  isJsonObject,
  type JsonValue,
  numberText,
  ownTimeText,
  visibleText,
} from "@planwright/plan";
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
import { Dialog } from "../parts/dialog.tsx";
import { Pill, ProblemNote } from "../parts/elements.tsx";
import { agoText, instantText, lookOf, PLAN_LOOK, type Tone } from "../parts/looks.ts";
import { deskPath, toolPath } from "../parts/paths.ts";
import { requestPath, stepIdOf } from "./paths.ts";
import { causeOf, progressText, ShareMenu, sentenceOf } from "./share-menu.tsx";
import type { Shown } from "./use-shown.ts";

/** The head of the page: the sentence, the status, its cause, and the next action. */
export function RequestHead({
  request,
  shown: { plan, versions, version: shownVersion, isNow },
  lostSince,
  isDeciding,
  isAnswerBelow,
  onSelect,
  onVersion,
}: {
  request: RequestPage;
  shown: Shown;
  /** When the last state arrived, in milliseconds, while the API does not answer; otherwise null. */
  lostSince: number | null;
  /** The decision that is asked for is open beside the graph, so it is not described a second time. */
  isDeciding: boolean;
  /** The answer in words is shown with the results. */
  isAnswerBelow: boolean;
  onSelect: (stepId: string) => void;
  onVersion: (version: number) => void;
}) {
  const now = useNow();
  return (
    <header className="request-head">
      <div className="request-line">
        <h1 dir="auto">{visibleText(request.title)}</h1>
        <Pill look={isNow ? requestLook(request) : lookOf(PLAN_LOOK, plan?.status ?? "not begun")} />
        <span className="request-tools">
          <Link href={deskPath(request.requestId)} className="button">
            Open at the desk
          </Link>
          <ShareMenu request={request} />
        </span>
      </div>
      <p className="request-facts">
        <code>{request.requestId}</code>
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
        {plan && <span>{progressText(plan.counts)}</span>}
        {typeof plan?.durationMs === "number" && (
          <span>{ownTimeText(plan.durationMs, plan.waitedForPeopleMs)}</span>
        )}
        <span title={instantText(request.createdAt)}>asked {agoText(request.createdAt, now)}</span>
        {lostSince !== null && (
          <strong className="tone-attention lost" aria-live="off">
            seen {agoText(new Date(lostSince).toISOString(), now)}
          </strong>
        )}
        {request.tags.map((tag) => (
          <span key={tag} className="tag">
            {visibleText(tag)}
          </span>
        ))}
      </p>
      {isNow && <NextAction request={request} isDeciding={isDeciding} onSelect={onSelect} />}
      {isNow && request.answer !== null && !isAnswerBelow && (
        <p className="answer" dir="auto">
          {visibleText(request.answer)}
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
function NextAction({
  request,
  isDeciding,
  onSelect,
}: {
  request: RequestPage;
  isDeciding: boolean;
  onSelect: (stepId: string) => void;
}) {
  const { cause, reasons, stepKeys, next } = request.diagnosis;
  const { message, since } = causeOf(request.diagnosis);
  // The status says it, and the results are shown.
  if (cause.severity === "NONE") return null;
  // The questions are below, each with its field.
  const shownReasons = request.status === "NEEDS_INPUT" || isDeciding ? [] : reasons;
  return (
    <section
      className={`next-action tone-${TONE[cause.severity] ?? "quiet"}${isDeciding ? " is-compact" : ""}`}
      aria-label="Cause and next action"
    >
      <p className="cause" dir="auto">
        {visibleText(message)}
        {since !== null && <span className="quiet-text"> since {since}</span>}
        {!isDeciding &&
          stepKeys.slice(0, MAX_SHOWN_KEYS).map((key) => (
            <span key={key}>
              {" "}
              <button type="button" className="link-button" onClick={() => onSelect(key)}>
                show {key}
              </button>
            </span>
          ))}
        {!isDeciding && stepKeys.length > MAX_SHOWN_KEYS && (
          <span className="quiet-text"> and {numberText(stepKeys.length - MAX_SHOWN_KEYS)} more</span>
        )}
      </p>
      <PendingNote request={request} />
      {shownReasons.map((reason) => (
        <p key={reason} className="reason" dir="auto">
          {visibleText(reason)}
        </p>
      ))}
      {request.status === "NEEDS_INPUT" ? (
        <Questions request={request} />
      ) : (
        <Actions request={request} next={isDeciding ? [] : next} onSelect={onSelect} />
      )}
    </section>
  );
}

/** Most steps that the cause links to. */
const MAX_SHOWN_KEYS = 3;

/** A cancel or pause that was asked for and has not ended: when, and what it waits for. */
function PendingNote({ request: { plan } }: { request: RequestPage }) {
  const pending = pendingControl(plan);
  if (!pending) return null;
  const what = pending.control === "cancelling" ? "Cancel" : "Pause";
  return (
    <p className="reason" role="status">
      {what} was asked at {instantText(pending.since)}
      {pending.calls ? `: it waits for ${countText(pending.calls, "running call")}.` : "."}
    </p>
  );
}

/** Approving and refusing begin with the same button, so the second of these actions is left out. */
function withoutRepeats(next: readonly Next[], hasCancel: boolean): Next[] {
  return next.filter(({ operation, description }, index) => {
    // It has its place beside the other controls of a request, and is never the first thing to do.
    if (operation === "cancel" && hasCancel) return false;
    // The page follows the request.
    if (operation === "requestUpdated" && /^(?:Follow|See|Watch)/u.test(description)) return false;
    return operation !== "approve" && operation !== "resolveInDoubt"
      ? true
      : next.findIndex((other) => other.operation === operation) === index;
  });
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
  const { buttonOf, pause, cancelDialog, askToCancel, isPending, problem } = useNextActions(
    request,
    onSelect,
  );
  const { requestId, plan, status } = request;
  const isRunning = status === "EXECUTING" && plan?.status !== "CANCELLING";
  const canCancel = isRunning || status === "PLANNING" || plan?.status === "READY";
  const shown = withoutRepeats(next, canCancel);
  return (
    <>
      {shown.length > 0 && (
        <ol className="next-steps">
          {shown.map((one, index) => (
            <li key={one.description}>
              <span dir="auto">{sentenceOf(one.description)}</span>{" "}
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
      )}
      <p className="actions">
        {isRunning && plan?.status !== "PAUSED" && plan?.pauseRequestedAt === null && (
          <button type="button" disabled={isPending} onClick={() => void pause.run({ requestId })}>
            Pause
          </button>
        )}
        {canCancel && (
          <button type="button" disabled={isPending} onClick={askToCancel}>
            Cancel
          </button>
        )}
      </p>
      {cancelDialog}
      {problem && <ProblemNote problem={problem} />}
    </>
  );
}

/** Says what a cancel does, and asks for it. */
function CancelDialog({
  request: { plan, title },
  isPending,
  onCancel,
  onClose,
}: {
  request: RequestPage;
  isPending: boolean;
  onCancel: () => void;
  onClose: () => void;
}) {
  const counts = plan?.counts;
  const steps = plan?.steps ?? [];
  const running = steps.filter(({ status }) => status === "RUNNING");
  const acting = running.filter(isActing);
  return (
    <Dialog label="Cancel this request" onClose={onClose}>
      <h2>Cancel this request?</h2>
      <p dir="auto">{visibleText(title)}</p>
      <ul className="plain-list">
        {counts && counts.completed > 0 && (
          <li>{countText(counts.completed, "step")} completed: their outputs and effects stay.</li>
        )}
        {running.length > 0 && (
          <li>
            {countText(running.length, "running call")} {running.length === 1 ? "is" : "are"} stopped.
            {acting.length > 0 &&
              ` ${acting
                .map(({ key }) => key)
                .slice(0, 4)
                .join(", ")} may have acted already.`}
          </li>
        )}
        {counts && counts.pending > 0 && <li>{countText(counts.pending, "step")} will not start.</li>}
        <li>What was not done can be run again later, as a new version.</li>
      </ul>
      <p className="actions">
        <button type="button" className="danger-button" disabled={isPending} onClick={onCancel}>
          Cancel the request
        </button>
        <button type="button" onClick={onClose}>
          Let it continue
        </button>
      </p>
    </Dialog>
  );
}

/** The button or link of an action; for a sentence, its limits first. An action without either is only said. */
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
  if (operation === "getAvailableTools") {
    const [, name = null] = command;
    return <Link href={toolPath(name)}>{name === null ? "Look at the tools" : `Look at ${name}`}</Link>;
  }
  if (operation === "toolServers")
    return (
      <Link href="/tools" className={isFirst ? "button primary-button" : "button"}>
        Sign in
      </Link>
    );
  if (operation === "requests") return <Link href="/?status=EXECUTING">Look at the running requests</Link>;
  const { press } = button ?? {};
  if (!button || !press) return null;
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
          <span dir="auto">{visibleText(question)}</span>
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
    navigate(requestPath({ requestId, version: null, stepId: null, view: null }));
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
  const [isAskingCancel, setIsAskingCancel] = useState(false);
  const askToCancel = () => setIsAskingCancel(true);
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
    cancel: { label: "Cancel", press: askToCancel },
    fleet: { label: "Look at the fleet", press: () => navigate("/fleet") },
    resume: { label: "Resume", press: () => resume.run({ requestId }) },
    executePlan: {
      label: "Execute the plan",
      press: plan ? () => execute.run({ planId: plan.planId }) : undefined,
    },
  };
  const all: Action<unknown, never>[] = [cancel, pause, resume, execute, rerun, replan, amend];
  return {
    askToCancel,
    cancelDialog: isAskingCancel && (
      <CancelDialog
        request={request}
        isPending={cancel.isPending}
        onCancel={() => void cancel.run({ requestId }).then(() => setIsAskingCancel(false))}
        onClose={() => setIsAskingCancel(false)}
      />
    ),
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
