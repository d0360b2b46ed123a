import { parseExactJson } from "@planwright/plan";
import { useState } from "react";
import { useLocation } from "wouter";
import { SUBMIT_PLAN } from "../data/desk-operations.ts";
import { useAction } from "../data/use-action.ts";
import { deskPath } from "../parts/desk-path.ts";
import { ProblemNote } from "../parts/problem-note.tsx";
import { requestPath } from "../request/paths.ts";
import type { EditedPlan } from "./editor/plan-editor.tsx";
import type { Check } from "./use-check.ts";

/** Submits a new plan: it is executed, or stored to be executed later. */
export function SubmitBar({
  edited,
  check,
  sentence = "",
}: {
  edited: EditedPlan;
  check: Check;
  /** The initial text of the sentence that the plan is for. Default: empty. */
  sentence?: string;
}) {
  const [, navigate] = useLocation();
  const [query, setQuery] = useState(sentence);
  const { run, isPending, problem } = useAction(SUBMIT_PLAN);
  const canSend = check.state === "valid" && !isPending;
  async function submit(execute: boolean): Promise<void> {
    const made = await run({
      plan: parseExactJson(edited.text) as never,
      query: query.trim() === "" ? null : query,
      execute,
      idempotencyKey: crypto.randomUUID(),
    });
    if (!made) return;
    const { requestId } = made.submitPlan;
    navigate(
      execute ? requestPath({ requestId, version: null, stepId: null, view: "graph" }) : deskPath(requestId),
    );
  }
  return (
    <>
      <label className="bench-words">
        <span>What it is for</span>
        <input
          value={query}
          maxLength={10_000}
          placeholder="optional, for people who read the list"
          onChange={({ target }) => setQuery(target.value)}
        />
      </label>
      <button type="button" disabled={!canSend} onClick={() => void submit(false)}>
        Store without executing
      </button>
      <button type="button" className="primary-button" disabled={!canSend} onClick={() => void submit(true)}>
        Submit and execute
      </button>
      {problem && <ProblemNote problem={problem} />}
    </>
  );
}
