import { commandLine } from "@planwright/client";
import { isJsonObject } from "@planwright/plan";
import { type FormEvent, useState } from "react";
import { ANSWER_QUESTIONS } from "../data/control-operations.ts";
import type { RequestFacts } from "../data/request-facts.ts";
import { useAction } from "../data/use-action.ts";
import type { Tone } from "../design/statuses.ts";
import { instantText } from "../design/text.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { SendAgain } from "./send-again.tsx";
import { type NextButton, stepIdOf, useNextActions } from "./use-next-actions.ts";

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

function Actions({
  request,
  next,
  onSelect,
}: {
  request: RequestFacts;
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
  request: RequestFacts;
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
