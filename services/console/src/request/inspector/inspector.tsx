import { durationText } from "@planwright/plan";
import { useClient } from "../../data/client-context.ts";
import type { RequestFacts, StepRow } from "../../data/request-facts.ts";
import { READ_STEP } from "../../data/request-operations.ts";
import type { ShownPlan, Versions } from "../../data/shown-plan.ts";
import { useRead } from "../../data/use-read.ts";
import { EFFECT_CLASS } from "../../design/effect-classes.ts";
import { lookOf, STEP_LOOK } from "../../design/statuses.ts";
import { instantText } from "../../design/text.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { ProblemNote } from "../../parts/problem-note.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { ApprovalPanel } from "./approval-panel.tsx";
import { Attempts } from "./attempts.tsx";
import { DoubtPanel } from "./doubt-panel.tsx";
import { cliCommand, curlCommand } from "./step-commands.ts";
import { asKnown, StepValues } from "./step-values.tsx";

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
  trace: Pick<RequestFacts, "traceId" | "traceUrl">;
  plan: ShownPlan;
  /** The step, followed by its items. */
  steps: readonly StepRow[];
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
        <StatusBadge look={lookOf(STEP_LOOK, step.status)} />
        <span className="quiet-text">{step.tool}</span>
        <span className="inspector-copies">
          <CopyButton text={cliCommand(requestId, planId, doubtful ?? step)} label="copy CLI" />
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
      <dl className="facts">
        {step.waitReason !== null && <Fact name="waits for" value={step.waitReason} />}
        {step.durationMs !== null && <Fact name="took" value={durationText(step.durationMs)} />}
        {step.startedAt !== null && <Fact name="started" value={instantText(step.startedAt)} />}
        {step.effectClass !== null && (
          <Fact name="effect class" value={EFFECT_CLASS[step.effectClass] ?? step.effectClass} />
        )}
        {step.carriedFrom !== null && (
          <CarriedFrom planId={step.carriedFrom} versions={versions} onVersion={onVersion} />
        )}
        {step.settled && (
          <Fact name="settled" value={`as ${step.settled.resolution} by ${step.settled.by}`} />
        )}
        {trace.traceId !== null && <Trace traceId={trace.traceId} traceUrl={trace.traceUrl} />}
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

/** The step that a reference names: by its id, or by a tool that only one step uses. */
export function producerOf(
  steps: readonly Pick<StepRow, "id" | "item" | "tool">[],
  root: string,
): string | undefined {
  const planSteps = steps.filter(({ item }) => item === null);
  if (planSteps.some(({ id }) => id === root)) return root;
  const ofTool = planSteps.filter(({ tool }) => tool === root);
  return ofTool.length === 1 ? ofTool[0]?.id : undefined;
}
