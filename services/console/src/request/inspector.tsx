import {
  commandLine,
  type PlanRun,
  type ResultOf,
  type StepRun,
  settlementText,
  unsentText,
  type VariablesOf,
} from "@planwright/client";
import {
  durationText,
  effectWords,
  type JsonValue,
  ownTimeText,
  parseExactJson,
  stateLook,
} from "@planwright/plan";
import { useState } from "react";
import {
  APPROVE,
  READ_STEP,
  RESOLVE_IN_DOUBT,
  type RequestPage,
  type Versions,
} from "../data/request-operations.ts";
import { useAction, useClient, useRead } from "../data/use-api.ts";
import { CopyButton, Pill, ProblemNote } from "../parts/elements.tsx";
import { JsonTree } from "../parts/json-tree.tsx";
import { EFFECT_CLASS, expiryText, instantText, lookOf, STEP_LOOK, sizeText } from "../parts/looks.ts";

/** Everything about one step: planned arguments, sent arguments, output, and each attempt. */
export function Inspector({
  requestId,
  trace,
  plan,
  steps,
  isPast,
  versions,
  onSelect,
  onVersion,
}: {
  requestId: string;
  /** The trace of the request, which contains every attempt. */
  trace: Pick<RequestPage, "traceId" | "traceUrl">;
  plan: PlanRun;
  /** The step, followed by its items. */
  steps: readonly StepRun[];
  /** True for an earlier moment, at which no decision is possible. */
  isPast: boolean;
  versions: Versions;
  onSelect: (stepId: string) => void;
  onVersion: (version: number) => void;
}) {
  const { planId } = plan;
  const client = useClient();
  const [step] = steps;
  const { data, problem } = useRead(READ_STEP, step ? { planId, stepId: step.id } : null);
  if (!step) return null;
  const linkOf = (root: string) => {
    const producer = producerOf(plan.steps, root);
    return producer === undefined ? undefined : () => onSelect(producer);
  };
  const details = data?.plan?.stepsConnection.nodes ?? [];
  const doubtful = isPast ? undefined : steps.find(({ status }) => status === "IN_DOUBT");
  const stepDetails = details.find(({ key }) => key === step.key);
  return (
    <article className="inspector" aria-label={`Step ${step.id}`}>
      <header>
        <h2>{step.id}</h2>
        <Pill look={lookOf(STEP_LOOK, step.status)} />
        <span className="quiet-text">{step.tool}</span>
        <span className="inspector-copies">
          <CopyButton
            text={cliCommand(
              requestId,
              planId,
              doubtful ?? (isPast ? { ...step, approvalHash: null } : step),
            )}
            label="copy CLI"
          />
          <CopyButton text={curlCommand(client.url, planId, step.id)} label="copy curl" />
        </span>
      </header>
      {step.error && (
        <div className="note tone-bad">
          <strong dir="auto">{step.error.message}</strong> <code>{step.error.code}</code>
          <p>{step.error.remedy}</p>
        </div>
      )}
      {step.status === "WAITING_APPROVAL" && !isPast && stepDetails && (
        <ApprovalPanel requestId={requestId} step={step} resolvedArguments={stepDetails.resolvedArguments} />
      )}
      {doubtful && <DoubtPanel requestId={requestId} step={doubtful} />}
      <StepFacts step={step} trace={trace} versions={versions} onVersion={onVersion} />
      {step.dependsOn.length > 0 && (
        <p className="producers">
          waits for{" "}
          {step.dependsOn.map((id) => (
            <button key={id} type="button" className="link-button" onClick={() => onSelect(id)}>
              {id}
            </button>
          ))}
        </p>
      )}
      {step.warnings.map((warning) => (
        <p key={warning} className="note tone-attention">
          {warning}
        </p>
      ))}
      {problem && <ProblemNote problem={problem} />}
      {details.map((found) => (
        <StepValues
          key={found.key}
          details={asKnown(found, steps)}
          isOnly={details.length === 1}
          linkOf={linkOf}
        />
      ))}
      <Attempts steps={steps} />
    </article>
  );
}

/** The step that a reference names: by its id, or by a tool that only one step uses. */
export function producerOf(
  steps: readonly Pick<StepRun, "id" | "item" | "tool">[],
  root: string,
): string | undefined {
  const planSteps = steps.filter(({ item }) => item === null);
  if (planSteps.some(({ id }) => id === root)) return root;
  const ofTool = planSteps.filter(({ tool }) => tool === root);
  return ofTool.length === 1 ? ofTool[0]?.id : undefined;
}

/** The next command for a step in a terminal. */
export function cliCommand(
  requestId: string,
  planId: string,
  { id, key, status, approvalHash }: Pick<StepRun, "id" | "key" | "status" | "approvalHash">,
): string {
  const planwright = (...words: string[]): string => commandLine("planwright", ...words);
  if (status === "WAITING_APPROVAL" && approvalHash !== null)
    return planwright("approve", requestId, id, "--hash", approvalHash);
  if (status === "IN_DOUBT") return planwright("resolve", requestId, key, "--retry");
  if (status === "COMPLETED") return planwright("output", `${planId}/steps/${key}`);
  if (status === "FAILED") return planwright("retry", requestId, "--from", id);
  return planwright("debug", requestId);
}

const STEP_QUERY =
  "query ($planId: ID!, $stepId: ID!) { plan(id: $planId) { stepsConnection(first: 50, filter: { stepId: $stepId }) " +
  "{ nodes { key status tool arguments resolvedArguments output error { code message remedy } " +
  "attempts { attempt outcome startedAt endedAt } } } } }";

/**
 * A call of the API that reads the step. The API key comes from a variable of the shell, so it is not copied.
 */
export function curlCommand(apiUrl: string, planId: string, stepId: string): string {
  const body = JSON.stringify({ query: STEP_QUERY, variables: { planId, stepId } });
  return [
    commandLine("curl", "-sS", apiUrl),
    "-H 'content-type: application/json'",
    '-H "authorization: Bearer $PLANWRIGHT_API_KEY"',
    commandLine("-d", body),
  ].join(" ");
}

/** Each attempt of a step and of its items. */
function Attempts({ steps }: { steps: readonly StepRun[] }) {
  const attempts = steps.flatMap(({ key, attempts: tries }) => tries.map((attempt) => ({ key, ...attempt })));
  if (attempts.length === 0) return null;
  return (
    <table className="attempts">
      <caption>attempts</caption>
      <thead>
        <tr>
          <th>try</th>
          <th>started</th>
          <th>took</th>
          <th>outcome</th>
          <th>executor</th>
        </tr>
      </thead>
      <tbody>
        {attempts.slice(0, 200).map((attempt) => (
          <tr key={`${attempt.key}/${attempt.attemptId}`}>
            <td>
              {steps.length > 1 && `${attempt.key} `}
              {attempt.attempt}
            </td>
            <td title={attempt.startedAt}>{instantText(attempt.startedAt).slice(11, 19)}</td>
            <td>{attempt.durationMs === null ? "" : durationText(attempt.durationMs)}</td>
            <td>
              {attempt.outcome ?? "running"}
              {attempt.error && (
                <span dir="auto">
                  {" "}
                  {attempt.error.message} <code>{attempt.error.code}</code>
                </span>
              )}
              {attempt.unsent && <span> {unsentText(attempt.unsent)}</span>}
            </td>
            <td className="quiet-text">{attempt.executor}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The exact call to approve, and what each choice does. */
function ApprovalPanel({
  requestId,
  step,
  resolvedArguments,
}: {
  requestId: string;
  step: StepRun;
  resolvedArguments: unknown;
}) {
  const [reason, setReason] = useState("");
  const { run, isPending, problem } = useAction(APPROVE);
  const { approvalHash, id: stepId } = step;
  if (approvalHash === null) return null;
  const decide = (approved: boolean) =>
    void run({ requestId, stepId, approvalHash, approved, reason: reason === "" ? null : reason });
  return (
    <section className="panel tone-attention" aria-label="Approval">
      <h3>
        Call <code>{step.tool}</code> with these arguments?
      </h3>
      <JsonTree label="arguments" value={resolvedArguments} />
      {step.expiresAt !== null && (
        <p className="quiet-text">
          It {expiryText(step.expiresAt)}: without a decision the step then fails, and nothing is called.
        </p>
      )}
      <p className="quiet-text">
        hash <code>{approvalHash.slice(0, 16)}</code>: when the arguments or the tool change before the call,
        nothing is called.
      </p>
      <label>
        Reason, for the record (optional)
        <input value={reason} maxLength={1_000} onChange={({ target }) => setReason(target.value)} />
      </label>
      <p className="actions">
        <button type="button" className="primary-button" disabled={isPending} onClick={() => decide(true)}>
          Approve: the tool is called
        </button>
        <button type="button" disabled={isPending} onClick={() => decide(false)}>
          Refuse: the step fails
        </button>
      </p>
      {problem && <ProblemNote problem={problem} />}
    </section>
  );
}

/** Arguments and outputs of a step or item. */
type StepDetails = NonNullable<ResultOf<typeof READ_STEP>["plan"]>["stepsConnection"]["nodes"][number];

/** Arguments and outputs are read in their current state; this removes those that a step did not have yet. */
function asKnown(found: StepDetails, steps: readonly StepRun[]): StepDetails {
  const then = steps.find(({ key }) => key === found.key);
  const wasSent = then !== undefined && (then.attempts.length > 0 || then.status === "WAITING_APPROVAL");
  const hasOutput = then?.status === "COMPLETED";
  return {
    ...found,
    resolvedArguments: wasSent ? found.resolvedArguments : null,
    resolvedArgumentsPreview: wasSent ? found.resolvedArgumentsPreview : null,
    output: hasOutput ? found.output : null,
    outputReference: hasOutput ? found.outputReference : null,
  };
}

/**
 * The planned and sent arguments and the output. References in planned arguments link to the steps that they
 * name.
 */
function StepValues({
  details,
  isOnly,
  linkOf,
}: {
  details: StepDetails;
  isOnly: boolean;
  linkOf: (root: string) => (() => void) | undefined;
}) {
  const { key, outputReference, resolvedArgumentsPreview } = details;
  const values = (
    <>
      <JsonTree label="planned" value={details.arguments} linkOf={linkOf} />
      {details.resolvedArguments !== null && <JsonTree label="sent" value={details.resolvedArguments} />}
      {resolvedArgumentsPreview && (
        <JsonTree
          label={`sent (${sizeText(resolvedArgumentsPreview.sizeBytes)}, the beginning)`}
          value={resolvedArgumentsPreview.text}
        />
      )}
      {outputReference ? (
        <div>
          <JsonTree
            label={`output (${outputReference.sizeBytes === null ? "large" : sizeText(outputReference.sizeBytes)}, the beginning)`}
            value={outputReference.preview}
          />
          <a href={`/outputs/${encodeURIComponent(outputReference.ref)}`}>the complete output</a>
        </div>
      ) : (
        details.output !== null && <JsonTree label="output" value={details.output} />
      )}
    </>
  );
  if (isOnly) return values;
  return (
    <details>
      <summary>{key}</summary>
      {values}
    </details>
  );
}

type Variables = VariablesOf<typeof RESOLVE_IN_DOUBT>;

/**
 * A call in doubt, and what each choice does. The buttons stay disabled until the user has typed the key of
 * the step.
 */
function DoubtPanel({ requestId, step }: { requestId: string; step: StepRun }) {
  const [typed, setTyped] = useState("");
  const [outputText, setOutputText] = useState("");
  const [reason, setReason] = useState("");
  const [outputError, setOutputError] = useState<string | null>(null);
  const { run, isPending, problem } = useAction(RESOLVE_IN_DOUBT);
  const isConfirmed = typed === step.key;
  const attempt = step.attempts.at(-1)?.attempt ?? 1;

  const settle = (settlement: Pick<Variables, "resolution" | "output" | "reason">) =>
    void run({ requestId, stepKey: step.key, attempt, ...settlement });

  function settleAsCompleted(): void {
    const output = parsed(outputText);
    setOutputError(output === undefined ? "This is not JSON. Put texts in double quotes." : null);
    if (output !== undefined) settle({ resolution: "completed", output });
  }

  return (
    <section className="panel tone-attention" aria-label="Doubt">
      <h3>
        Did <code>{step.tool}</code> do it?
      </h3>
      <p>
        Attempt {attempt} was sent and no answer came. Look at what the tool changes, then choose what
        happened. The call is never sent again automatically.
      </p>
      <label>
        What the call returned, as JSON (for “it happened”; empty: null)
        <textarea rows={3} value={outputText} onChange={({ target }) => setOutputText(target.value)} />
      </label>
      {outputError !== null && <p className="note tone-bad">{outputError}</p>}
      <label>
        Why the step shall fail (for “let the step fail”)
        <input value={reason} maxLength={1_000} onChange={({ target }) => setReason(target.value)} />
      </label>
      <label>
        Type <code>{step.key}</code> to confirm
        <input
          value={typed}
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => setTyped(target.value)}
        />
      </label>
      <p className="actions">
        <button type="button" disabled={!isConfirmed || isPending} onClick={settleAsCompleted}>
          It happened: continue with this output
        </button>
        <button
          type="button"
          disabled={!isConfirmed || isPending}
          onClick={() => settle({ resolution: "retry" })}
        >
          It did not: call it again
        </button>
        <button
          type="button"
          disabled={!isConfirmed || isPending || reason.trim() === ""}
          onClick={() => settle({ resolution: "failed", reason })}
        >
          It did not: let the step fail
        </button>
      </p>
      {problem && <ProblemNote problem={problem} />}
    </section>
  );
}

/** The JSON value of a text; null for an empty text; undefined if it is not JSON. */
function parsed(text: string): JsonValue | undefined {
  if (text.trim() === "") return null;
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}

/** What is known about one step, each fact with its name; unknown facts are left out. */
export function StepFacts({
  step,
  trace,
  versions,
  onVersion,
}: {
  step: StepRun;
  trace: Pick<RequestPage, "traceId" | "traceUrl">;
  versions: Versions;
  onVersion: (version: number) => void;
}) {
  return (
    <dl className="facts">
      {step.waitReason !== null && <Fact name="state" value={stateLook("step", step).word} />}
      {step.durationMs !== null && (
        <Fact name="took" value={ownTimeText(step.durationMs, step.waitedForPeopleMs)} />
      )}
      {step.startedAt !== null && <Fact name="started" value={instantText(step.startedAt)} />}
      {step.effectClass !== null && (
        <Fact name="effect class" value={EFFECT_CLASS[step.effectClass] ?? step.effectClass} />
      )}
      {step.effect !== null && <Fact name="effect" value={effectWords(step.effect)} />}
      {step.carriedFrom !== null && (
        <CarriedFrom planId={step.carriedFrom} versions={versions} onVersion={onVersion} />
      )}
      {step.settled && <Fact name="settled" value={settlementText(step.settled)} />}
      {trace.traceId !== null && <Trace traceId={trace.traceId} traceUrl={trace.traceUrl} />}
    </dl>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}

function Trace({ traceId, traceUrl }: { traceId: string; traceUrl: string | null }) {
  return (
    <>
      <dt>trace</dt>
      <dd>
        {traceUrl === null ? (
          <code>{traceId}</code>
        ) : (
          <a href={traceUrl} target="_blank" rel="noreferrer">
            <code>{traceId}</code>
          </a>
        )}{" "}
        <CopyButton text={traceId} label="copy trace id" />
      </dd>
    </>
  );
}

/** The version that executed a step, as a link. */
function CarriedFrom({
  planId,
  versions,
  onVersion,
}: {
  planId: string;
  versions: Versions;
  onVersion: (version: number) => void;
}) {
  const version = versions.find((one) => one.planId === planId)?.version;
  return (
    <>
      <dt>carried over from</dt>
      <dd>
        {version === undefined ? (
          planId
        ) : (
          <button type="button" className="link-button" onClick={() => onVersion(version)}>
            version {version}
          </button>
        )}
      </dd>
    </>
  );
}
