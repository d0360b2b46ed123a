import { type FormEvent, useState } from "react";
import { useLocation } from "wouter";
import { CREATE_PLAN } from "../data/control-operations.ts";
import { useAction } from "../data/use-action.ts";
import { ProblemNote } from "../parts/problem-note.tsx";
import { requestPath } from "../request/paths.ts";

/** Sends one sentence and opens the page of the new request. */
export function NewRequest() {
  const [, navigate] = useLocation();
  const [query, setQuery] = useState("");
  const [isExecuting, setIsExecuting] = useState(true);
  const { run, isPending, problem } = useAction(CREATE_PLAN);
  async function send(event: FormEvent): Promise<void> {
    event.preventDefault();
    const made = await run({ query, execute: isExecuting, idempotencyKey: crypto.randomUUID() });
    if (!made) return;
    navigate(
      requestPath({ requestId: made.createPlan.requestId, version: null, stepId: null, view: "graph" }),
    );
  }
  return (
    <form className="new-request" onSubmit={(event) => void send(event)}>
      <label>
        <span className="hidden">What to do</span>
        <input
          value={query}
          maxLength={10_000}
          placeholder="What to do, in one sentence"
          onChange={({ target }) => setQuery(target.value)}
        />
      </label>
      <label className="check">
        <input
          type="checkbox"
          checked={isExecuting}
          onChange={({ target }) => setIsExecuting(target.checked)}
        />{" "}
        execute at once
      </label>
      <button type="submit" className="primary-button" disabled={isPending || query.trim() === ""}>
        Plan it
      </button>
      {problem && <ProblemNote problem={problem} />}
    </form>
  );
}
