import { useClient } from "../../data/client-context.ts";
import type { RequestFacts, StepRow } from "../../data/request-facts.ts";
import { READ_STEP } from "../../data/request-operations.ts";
import type { ShownPlan, Versions } from "../../data/shown-plan.ts";
import { useRead } from "../../data/use-read.ts";
import { lookOf, STEP_LOOK } from "../../design/statuses.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { ProblemNote } from "../../parts/problem-note.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { ApprovalPanel } from "./approval-panel.tsx";
import { Attempts } from "./attempts.tsx";
import { DoubtPanel } from "./doubt-panel.tsx";
import { cliCommand, curlCommand } from "./step-commands.ts";
import { StepFacts } from "./step-facts.tsx";
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
  steps: readonly Pick<StepRow, "id" | "item" | "tool">[],
  root: string,
): string | undefined {
  const planSteps = steps.filter(({ item }) => item === null);
  if (planSteps.some(({ id }) => id === root)) return root;
  const ofTool = planSteps.filter(({ tool }) => tool === root);
  return ofTool.length === 1 ? ofTool[0]?.id : undefined;
}
