import type { ResultOf } from "@planwright/client";
import { countText, durationText } from "@planwright/plan";
import { READ_MODEL_CALLS } from "../data/request-operations.ts";
import { useRead } from "../data/use-read.ts";
import { ProblemNote } from "../parts/problem-note.tsx";
import { ModelBudget, type RequestAtEntry } from "./model-budget.tsx";
import { ReadDrafts } from "./read-drafts.tsx";

type ModelCall = NonNullable<
  ResultOf<typeof READ_MODEL_CALLS>["request"]
>["modelCallsConnection"]["nodes"][number];

/**
 * The model calls with prompts and answers, their share of the limits, and the plans that were read from the
 * answers.
 */
export function ModelCalls({ requestId, seq }: RequestAtEntry) {
  const { data, problem } = useRead(READ_MODEL_CALLS, { requestId }, seq);
  if (problem) return <ProblemNote problem={problem} />;
  if (!data) return <p className="empty">Reading …</p>;
  const calls = data.request?.modelCallsConnection.nodes ?? [];
  if (calls.length === 0) return <p className="empty">No model was asked for this request.</p>;
  return (
    <>
      <ModelBudget requestId={requestId} seq={seq} />
      <ReadDrafts requestId={requestId} seq={seq} />
      <CallList calls={calls} />
    </>
  );
}

function CallList({ calls }: { calls: readonly ModelCall[] }) {
  return (
    <ol className="model-calls">
      {calls.map((call) => (
        <li key={call.id}>
          <header>
            <strong>{call.purpose}</strong> <code>{call.model}</code>
            <span className="quiet-text">
              {[
                call.endedAt === null ? null : durationText(call.latencyMs),
                call.inputTokens !== null && `${countText(call.inputTokens, "token")} in`,
                call.cachedInputTokens ? `${call.cachedInputTokens} of them cached` : null,
                call.outputTokens !== null && `${countText(call.outputTokens, "token")} out`,
                call.costUsd !== null && `$${call.costUsd.toFixed(4)}`,
                call.endedAt === null && "no answer yet, or its planner died",
              ]
                .filter(Boolean)
                .join(" · ")}
            </span>
          </header>
          {call.error && (
            <p className="note tone-bad">
              {call.error.message} <code>{call.error.code}</code>
            </p>
          )}
          {call.messages.map((message, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: messages of a recorded call never change.
            <details key={index}>
              <summary>
                {message.role}, {countText(message.content.length, "character")}
              </summary>
              <pre dir="auto">{message.content}</pre>
            </details>
          ))}
          <details open>
            <summary>answer</summary>
            <pre dir="auto">{call.answer === "" ? "(empty)" : call.answer}</pre>
          </details>
        </li>
      ))}
    </ol>
  );
}
