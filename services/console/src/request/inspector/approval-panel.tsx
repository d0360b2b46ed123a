import { useState } from "react";
import { APPROVE } from "../../data/control-operations.ts";
import { type StepRow } from "../../data/request-facts.ts";
import { useAction } from "../../data/use-action.ts";
import { expiryText } from "../../design/text.ts";
import { JsonTree } from "../../parts/json-tree.tsx";
import { ProblemNote } from "../../parts/problem-note.tsx";

/** The exact call to approve, and what each choice does. */
export function ApprovalPanel({
  requestId,
  step,
  resolvedArguments,
}: {
  requestId: string;
  step: StepRow;
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
