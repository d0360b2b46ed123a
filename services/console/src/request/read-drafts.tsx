import type { ResultOf } from "@planwright/client";
import { countText } from "@planwright/plan";
import { READ_DRAFTS } from "../data/request-operations.ts";
import { useRead } from "../data/use-read.ts";
import type { Diagnostic } from "../parts/diagnostic.ts";
import { Diagnostics } from "../parts/diagnostics.tsx";
import { JsonTree } from "../parts/json-tree.tsx";
import type { RequestAtEntry } from "./model-budget.tsx";

type Draft = NonNullable<ResultOf<typeof READ_DRAFTS>["request"]>["plansConnection"]["nodes"][number];

/**
 * The newest versions that a model made: its answer beside the plan that was read from it, with the
 * diagnostics of that plan.
 */
export function ReadDrafts({ requestId, seq }: RequestAtEntry) {
  const { data } = useRead(READ_DRAFTS, { requestId }, seq);
  const drafts = (data?.request?.plansConnection.nodes ?? []).filter(
    ({ origin }) => origin.kind !== "submitted",
  );
  if (drafts.length === 0) return null;
  return (
    <section aria-label="What was read from the answers" className="read-drafts">
      {drafts.map((draft, index) => (
        <details key={draft.version} open={index === 0}>
          <summary>{summaryOf(draft)}</summary>
          <Diagnostics diagnostics={draft.diagnostics as Diagnostic[]} />
          <div className="beside">
            <figure>
              <figcaption>The answer</figcaption>
              <pre dir="auto">{draft.raw ?? "(none is stored)"}</pre>
            </figure>
            <figure>
              <figcaption>The plan that was read from it</figcaption>
              {draft.document === null ? (
                <p className="empty">No plan could be read from it.</p>
              ) : (
                <JsonTree value={draft.document} label={`Plan of version ${draft.version}`} />
              )}
            </figure>
          </div>
        </details>
      ))}
    </section>
  );
}

function summaryOf({ version, diagnostics }: Draft): string {
  const found = diagnostics.length === 0 ? "nothing wrong in it" : countText(diagnostics.length, "problem");
  return `Version ${version}: the answer and the plan, ${found}`;
}
