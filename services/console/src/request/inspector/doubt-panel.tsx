import type { VariablesOf } from "@planwright/client";
import { type JsonValue, parseExactJson } from "@planwright/plan";
import { useState } from "react";
import { RESOLVE_IN_DOUBT } from "../../data/control-operations.ts";
import { type StepRow } from "../../data/request-facts.ts";
import { useAction } from "../../data/use-action.ts";
import { ProblemNote } from "../../parts/problem-note.tsx";

type Variables = VariablesOf<typeof RESOLVE_IN_DOUBT>;

/**
 * A call in doubt, and what each choice does. The buttons stay disabled until the user has typed the key of
 * the step.
 */
export function DoubtPanel({ requestId, step }: { requestId: string; step: StepRow }) {
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
