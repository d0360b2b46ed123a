import { isJsonObject } from "@planwright/plan";
import { type FormEvent, useState } from "react";
import { useLocation } from "wouter";
import { CREATE_PLAN } from "../data/control-operations.ts";
import { type RequestFacts } from "../data/request-facts.ts";
import { useAction } from "../data/use-action.ts";
import { ProblemNote } from "../parts/problem-note.tsx";
import { requestPath } from "./paths.ts";

/** The limits of model calls, and the labels of their fields. */
const LIMITS = [
  { limit: "maxModelCalls", label: "model calls at most", step: 1 },
  { limit: "maxTokens", label: "tokens at most", step: 1 },
  { limit: "maxCostUsd", label: "US dollars at most", step: "any" },
] as const;

/**
 * Sends the sentence of a request without a plan as a new request: unchanged, in other words, or with other
 * limits of model calls. Its tags and options stay the same.
 */
export function SendAgain({ request, suggested }: { request: RequestFacts; suggested: unknown }) {
  const [, navigate] = useLocation();
  const [query, setQuery] = useState(request.query ?? "");
  const [limits, setLimits] = useState(limitsOf(suggested));
  const { run, isPending, problem } = useAction(CREATE_PLAN);
  async function send(event: FormEvent): Promise<void> {
    event.preventDefault();
    const made = await run({
      query,
      execute: request.autoExecute,
      tags: request.tags,
      maxReplans: request.maxReplans,
      answer: request.answerRequested,
      limits: Object.fromEntries(limits.map(({ limit, value }) => [limit, Number(value)])),
      idempotencyKey: crypto.randomUUID(),
    });
    if (!made) return;
    const { requestId } = made.createPlan;
    navigate(requestPath({ requestId, version: null, stepId: null, view: "graph" }));
  }
  return (
    <form className="send-again" onSubmit={(event) => void send(event)}>
      <label>
        <span className="hidden">Sentence</span>
        <textarea
          rows={2}
          dir="auto"
          maxLength={10_000}
          value={query}
          onChange={({ target }) => setQuery(target.value)}
        />
      </label>
      <p className="actions">
        {limits.map(({ limit, label, step, value }) => (
          <label key={limit}>
            {label}{" "}
            <input
              type="number"
              min={0}
              step={step}
              required
              value={value}
              onChange={({ target }) =>
                setLimits(limits.map((one) => (one.limit === limit ? { ...one, value: target.value } : one)))
              }
            />
          </label>
        ))}
        <button type="submit" className="primary-button" disabled={isPending || query.trim() === ""}>
          Send it as a new request
        </button>
      </p>
      {problem && <ProblemNote problem={problem} />}
    </form>
  );
}

/** The limits that a diagnosis suggests, each as the text of its field. */
function limitsOf(suggested: unknown) {
  const given = isJsonObject(suggested) ? suggested : {};
  return LIMITS.flatMap((field) => {
    const value = given[field.limit];
    return typeof value === "number" ? [{ ...field, value: `${value}` }] : [];
  });
}
