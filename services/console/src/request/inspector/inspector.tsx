import type { ResultOf } from "@planwright/client";
import { durationText } from "@planwright/plan";
import { READ_STEP, type StepRow } from "../../data/operations.ts";
import { useRead } from "../../data/use-read.ts";
import { EFFECT_CLASS } from "../../design/effect-classes.ts";
import { lookOf, STEP_LOOK } from "../../design/statuses.ts";
import { instantText, sizeText } from "../../design/text.ts";
import { JsonTree } from "../../parts/json-tree.tsx";
import { ProblemNote } from "../../parts/problem-note.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { ApprovalPanel } from "./approval-panel.tsx";
import { DoubtPanel } from "./doubt-panel.tsx";

type Details = NonNullable<ResultOf<typeof READ_STEP>["plan"]>["stepsConnection"]["nodes"][number];

/** All that is known of one step: what was planned, what was sent, what came back, and each attempt. */
export function Inspector({
  requestId,
  planId,
  steps,
  isPast,
  onSelect,
}: {
  requestId: string;
  planId: string;
  /** The step, and behind it its items. */
  steps: readonly StepRow[];
  /** True for an earlier moment: nothing can be decided there. */
  isPast: boolean;
  onSelect: (stepId: string) => void;
}) {
  const [step] = steps;
  const { data, problem } = useRead(READ_STEP, step ? { planId, stepId: step.id } : null);
  if (!step) return null;
  const details = data?.plan?.stepsConnection.nodes ?? [];
  const doubtful = isPast ? undefined : steps.find(({ status }) => status === "IN_DOUBT");
  const own = details.find(({ key }) => key === step.key);
  return (
    <article className="inspector" aria-label={`Step ${step.id}`}>
      <header>
        <h2>{step.id}</h2>
        <StatusBadge look={lookOf(STEP_LOOK, step.status)} />
        <span className="quiet-text">{step.tool}</span>
      </header>
      {step.error && (
        <div className="note tone-bad">
          <strong dir="auto">{step.error.message}</strong> <code>{step.error.code}</code>
          <p>{step.error.remedy}</p>
        </div>
      )}
      {step.status === "WAITING_APPROVAL" && !isPast && own && (
        <ApprovalPanel requestId={requestId} step={step} resolvedArguments={own.resolvedArguments} />
      )}
      {doubtful && <DoubtPanel requestId={requestId} step={doubtful} />}
      <dl className="facts">
        {step.waitReason !== null && <Fact name="waits for" value={step.waitReason} />}
        {step.durationMs !== null && <Fact name="took" value={durationText(step.durationMs)} />}
        {step.startedAt !== null && <Fact name="started" value={instantText(step.startedAt)} />}
        {step.effectClass !== null && (
          <Fact name="effect class" value={EFFECT_CLASS[step.effectClass] ?? step.effectClass} />
        )}
        {step.carriedFrom !== null && <Fact name="carried over from" value={step.carriedFrom} />}
        {step.settled && (
          <Fact name="settled" value={`as ${step.settled.resolution} by ${step.settled.by}`} />
        )}
      </dl>
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
        <Values key={found.key} details={asKnown(found, steps)} isOnly={details.length === 1} />
      ))}
      <Attempts steps={steps} />
    </article>
  );
}

/** Arguments and outputs are read as they are now. At an earlier moment a step has what it had then. */
function asKnown(found: Details, steps: readonly StepRow[]): Details {
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

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}

function Values({ details, isOnly }: { details: Details; isOnly: boolean }) {
  const { key, outputReference, resolvedArgumentsPreview } = details;
  const values = (
    <>
      <JsonTree label="planned" value={details.arguments} />
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
          <a href={`/outputs/${encodeURIComponent(outputReference.ref)}`}>the whole output</a>
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

function Attempts({ steps }: { steps: readonly StepRow[] }) {
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
              {attempt.outcome ?? "under way"}
              {attempt.error && (
                <span dir="auto">
                  {" "}
                  {attempt.error.message} <code>{attempt.error.code}</code>
                </span>
              )}
              {attempt.unsent && <span> not sent, {attempt.unsent.tries} tries</span>}
            </td>
            <td className="quiet-text">{attempt.executor}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
