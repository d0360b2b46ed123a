import { type FormEvent, useState } from "react";
import { useLocation } from "wouter";
import { CREATE_PLAN } from "../data/control-operations.ts";
import { useAction } from "../data/use-action.ts";
import { deskPath } from "../parts/desk-path.ts";
import { ProblemNote } from "../parts/problem-note.tsx";

/** Plans a sentence and starts nothing; the draft opens at the desk. */
export function SentenceForm() {
  const [, navigate] = useLocation();
  const [query, setQuery] = useState("");
  const { run, isPending, problem } = useAction(CREATE_PLAN);
  async function send(event: FormEvent): Promise<void> {
    event.preventDefault();
    const made = await run({ query, execute: false, idempotencyKey: crypto.randomUUID() });
    if (made) navigate(deskPath(made.createPlan.requestId));
  }
  return (
    <form className="new-request" onSubmit={(event) => void send(event)}>
      <label>
        <span className="hidden">Sentence to plan</span>
        <input
          value={query}
          maxLength={10_000}
          placeholder="A sentence to draft a plan from, or write the plan below"
          onChange={({ target }) => setQuery(target.value)}
        />
      </label>
      <button type="submit" disabled={isPending || query.trim() === ""}>
        Plan this sentence
      </button>
      {problem && <ProblemNote problem={problem} />}
    </form>
  );
}
