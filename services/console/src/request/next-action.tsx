import { isJsonObject } from "@planwright/plan";
import { type FormEvent, useState } from "react";
import { useLocation } from "wouter";
import {
  AMEND_AS_SUGGESTED,
  ANSWER_QUESTIONS,
  CANCEL,
  EXECUTE_PLAN,
  PAUSE,
  REPLAN,
  RERUN,
  RESUME,
} from "../data/control-operations.ts";
import { type RequestFacts } from "../data/request-facts.ts";
import { type Action, useAction } from "../data/use-action.ts";
import type { Tone } from "../design/statuses.ts";
import { instantText } from "../design/text.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { deskPath } from "../parts/desk-path.ts";
import { ProblemNote } from "../parts/problem-note.tsx";
import { shellWord } from "./inspector/step-commands.ts";
import { SendAgain } from "./send-again.tsx";
import { suggestedAmendment } from "./suggested-amendment.ts";

type Diagnosis = RequestFacts["diagnosis"];
type Next = Diagnosis["next"][number];

const TONE: Readonly<Record<string, Tone>> = {
  NONE: "good",
  PROGRESS: "active",
  ATTENTION: "attention",
  FAILURE: "bad",
};

/** The cause of the request's status, and the next actions, the best first. */
export function NextAction({
  request,
  onSelect,
}: {
  request: RequestFacts;
  onSelect: (stepId: string) => void;
}) {
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

/** The id of the step of a key; for an item, of its list. */
function stepIdOf(key: string): string {
  return key.replace(/\[\d+\]$/, "");
}

function Actions({
  request,
  next,
  onSelect,
}: {
  request: RequestFacts;
  next: readonly Next[];
  onSelect: (stepId: string) => void;
}) {
  const { requestId, plan, version, status } = request;
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
  /** Completed steps of a started plan can be carried over, so its corrections are made at the desk. */
  const wasStarted = typeof plan?.startedAt === "string";
  /** The button for each operation that a diagnosis names. */
  const buttons: Readonly<Record<string, { label: string; press: (() => unknown) | undefined }>> = {
    approve: { label: "Look at the call and decide", press: show },
    resolveInDoubt: { label: "Look at the call and say what happened", press: show },
    rerun: { label: "Run again what did not complete", press: () => rerun.run(newVersion()) },
    replan: { label: "Have the rest planned again", press: () => replan.run(newVersion()) },
    submitPlan: {
      label: plan ? "Change the plan at the desk" : "Write a plan at the desk",
      press: toDesk,
    },
    ...(wasStarted && { createPlan: { label: "Change the plan at the desk", press: toDesk } }),
    cancel: { label: "Cancel", press: () => cancel.run({ requestId }) },
    fleet: { label: "Look at the fleet", press: () => navigate("/fleet") },
    resume: { label: "Resume", press: () => resume.run({ requestId }) },
    executePlan: {
      label: "Execute the plan",
      press: plan ? () => execute.run({ planId: plan.planId }) : undefined,
    },
  };
  const all: Action<unknown, never>[] = [cancel, pause, resume, execute, rerun, replan, amend];
  const isPending = all.some((action) => action.isPending);
  const problem = all.find((action) => action.problem)?.problem;
  const isRunning = status === "EXECUTING" && plan?.status !== "CANCELLING";
  const canCancel =
    !next.some(({ operation }) => operation === "cancel") &&
    (isRunning || status === "PLANNING" || plan?.status === "READY");
  return (
    <>
      <ol className="next-steps">
        {withoutRepeats(next).map(({ description, operation, arguments: given, command }, index) => {
          const amendment = operation === "amendPlan" ? suggestedAmendment(given) : undefined;
          const button = amendment
            ? { label: amendment.label, press: () => amend.run({ ...newVersion(), ...amendment.change }) }
            : buttons[operation];
          if (operation === "createPlan" && !button)
            return (
              <li key={description}>
                <span dir="auto">{description}</span>
                <SendAgain request={request} suggested={isJsonObject(given) ? given["limits"] : undefined} />
              </li>
            );
          const text = ["planwright", ...command].map(shellWord).join(" ");
          return (
            <li key={description}>
              <span dir="auto">{description}</span>{" "}
              {button?.press ? (
                <button
                  type="button"
                  className={index === 0 ? "primary-button" : ""}
                  disabled={isPending}
                  onClick={() => void button.press?.()}
                >
                  {button.label}
                </button>
              ) : (
                <>
                  <code>{text}</code> <CopyButton text={text} label="copy" />
                </>
              )}
            </li>
          );
        })}
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

function Questions({ request: { requestId, openQuestions } }: { request: RequestFacts }) {
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
