import { durationText } from "@planwright/plan";
import { useNow } from "../browser/use-now.ts";
import type { DraftFacts } from "../data/desk-operations.ts";
import { READ_MODEL_CALLS } from "../data/request-operations.ts";
import { useRead } from "../data/use-read.ts";

/** A sentence while it is planned: which calls of models are made, and what they answered. */
export function Drafting({ draft }: { draft: DraftFacts }) {
  const now = useNow();
  const { requestId, createdAt, waitReason, seq } = draft;
  return (
    <section className="drafting" aria-label="Drafting">
      <h2>
        <span aria-hidden="true">…</span> Drafting for {durationText(now - Date.parse(createdAt))}
      </h2>
      <p className="quiet-text" role="status">
        {waitReason === null ? "A planner works on the sentence." : `It waits for a planner: ${waitReason}.`}{" "}
        The draft opens here.
      </p>
      <Calls key={seq} requestId={requestId} />
    </section>
  );
}

/** Read anew with each entry of the journal. */
function Calls({ requestId }: { requestId: string }) {
  const { data } = useRead(READ_MODEL_CALLS, { requestId });
  return (
    <ol className="draft-calls">
      {data?.request?.modelCallsConnection.nodes.map(
        ({ id, purpose, model, answer, latencyMs, outputTokens, error }) => (
          <li key={id}>
            <strong>{purpose}</strong> <span className="quiet-text">{model}</span>{" "}
            {error ? <code>{error.code}</code> : answer === null ? "is asked …" : durationText(latencyMs)}
            {outputTokens !== null && outputTokens > 0 && (
              <span className="quiet-text"> {outputTokens.toLocaleString("en")} tokens</span>
            )}
            {answer !== null && <pre dir="auto">{answer}</pre>}
          </li>
        ),
      )}
    </ol>
  );
}
