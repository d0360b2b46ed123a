import { countText, durationText, stateLook } from "@planwright/plan";
import { useMemo } from "react";
import { useNow } from "../browser/use-now.ts";
import { type DraftFacts, type DraftingCall, READ_DRAFTING } from "../data/desk-operations.ts";
import { useRegularRead } from "../data/use-regular-read.ts";
import { DraftGraph } from "./draft-graph.tsx";
import { draftSteps } from "./text/draft-steps.ts";
import { partialDocument } from "./text/partial-document.ts";

/** From one reading of the answer that is arriving to the next. */
const READ_EVERY_MS = 300;

/** A sentence while it is planned: the calls of models, and the steps that have arrived, as a graph. */
export function Drafting({ draft }: { draft: DraftFacts }) {
  const now = useNow();
  const { requestId, createdAt, waitReason } = draft;
  const { data } = useRegularRead(READ_DRAFTING, { requestId }, READ_EVERY_MS);
  const calls = data?.request?.modelCallsConnection.nodes ?? [];
  const answer = answerOf(calls.at(-1));
  const read = useMemo(() => partialDocument(answer), [answer]);
  const shape = useMemo(() => JSON.stringify(draftSteps(read)), [read]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the graph is drawn again for a new shape only.
  const document = useMemo(() => read, [shape]);
  return (
    <section className="drafting" aria-label="Drafting">
      <h2>
        <span aria-hidden="true">…</span> Drafting for {durationText(now - Date.parse(createdAt))}
      </h2>
      <p className="quiet-text" role="status">
        {waitReason === null
          ? "A planner works on the sentence."
          : `${stateLook("request", { status: "PLANNING", waitReason }).word}.`}{" "}
        {document.steps.length > 0 && `${countText(document.steps.length, "step")} so far. `}
        The draft opens here.
      </p>
      <div className="drafting-panes">
        <CallList calls={calls} />
        {document.steps.length > 0 && (
          <section className="pane" aria-label="Steps so far">
            <DraftGraph
              document={document}
              base={null}
              diagnostics={NONE}
              selected={null}
              onSelect={ignore}
              isGrowing
            />
          </section>
        )}
      </div>
    </section>
  );
}

const NONE: readonly never[] = [];
const ignore = (): void => undefined;

/** The answer of a call, or the beginning of it that has arrived; empty before that. */
function answerOf(call: DraftingCall | undefined): string {
  return call?.partialAnswer ?? call?.answer ?? "";
}

function CallList({ calls }: { calls: readonly DraftingCall[] }) {
  return (
    <ol className="draft-calls">
      {calls.map((call) => (
        <li key={call.id}>
          <strong>{call.purpose}</strong> <span className="quiet-text">{call.model}</span>{" "}
          <CallState call={call} />
          {answerOf(call) !== "" && (
            // It scrolls, so it can be reached by keyboard.
            <section aria-label={`Answer to ${call.purpose}`} tabIndex={0} className="draft-answer">
              <pre dir="auto">{answerOf(call)}</pre>
            </section>
          )}
        </li>
      ))}
    </ol>
  );
}

function CallState({
  call: { error, endedAt, latencyMs, outputTokens, partialAnswer },
}: {
  call: DraftingCall;
}) {
  if (error) return <code>{error.code}</code>;
  if (endedAt === null) return partialAnswer === null ? "is asked …" : "answers …";
  return (
    <>
      {durationText(latencyMs)}
      {outputTokens !== null && outputTokens > 0 && (
        <span className="quiet-text"> {countText(outputTokens, "token")}</span>
      )}
    </>
  );
}
