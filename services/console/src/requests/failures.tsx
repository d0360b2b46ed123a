import { useState } from "react";
import { Link } from "wouter";
import { useNow } from "../browser/use-now.ts";
import { READ_FAILURES, READ_NEXT_ACTION } from "../data/list-operations.ts";
import { useRead } from "../data/use-read.ts";
import { agoText } from "../design/text.ts";
import { requestPath } from "../request/paths.ts";
import { BulkDialog } from "./bulk-dialog.tsx";
import { type FailureGroup, failureGroups } from "./failure-groups.ts";
import { useFedRead } from "./use-fed-read.ts";
import type { RequestFilter } from "./use-request-list.ts";

/** Most groups that are shown; the list has the others. */
const SHOWN = 4;

/** The failures by error code, each with one next action; empty without failures. */
export function Failures() {
  const failures = useFedRead(READ_FAILURES);
  const [retried, setRetried] = useState<RequestFilter | null>(null);
  const groups = failureGroups(failures?.requests.nodes ?? []);
  if (groups.length === 0) return null;
  const isMore = failures?.requests.pageInfo.hasNextPage === true;
  return (
    <section className="failures" aria-label="Failures">
      <h2>Failed, by cause{isMore && <span className="quiet-text"> among the newest 60</span>}</h2>
      <ul>
        {groups.slice(0, SHOWN).map((group) => (
          <Group key={group.code} group={group} onRetry={setRetried} />
        ))}
      </ul>
      {groups.length > SHOWN && (
        <p>
          <Link href="/?status=FAILED">{groups.length - SHOWN} more causes</Link>
        </p>
      )}
      {retried && <BulkDialog kind="retry" filter={retried} onClose={() => setRetried(null)} />}
    </section>
  );
}

function Group({
  group: { code, count, mayHaveActed, newest },
  onRetry,
}: {
  group: FailureGroup;
  onRetry: (filter: RequestFilter) => void;
}) {
  const now = useNow();
  const { requestId, title, updatedAt } = newest;
  const next = useRead(READ_NEXT_ACTION, { requestId }).data?.request?.diagnosis.next[0]?.description;
  const filter: RequestFilter =
    code === null ? { status: ["PARTIAL"] } : { status: ["FAILED", "PARTIAL"], errorCode: code };
  const list = code === null ? "/?status=PARTIAL" : `/?${new URLSearchParams({ errorCode: code })}`;
  return (
    <li className="failure">
      <span className="failure-count">{count}</span>
      <span className="failure-cause">
        <Link href={list}>{code === null ? "partly completed" : <code>{code}</code>}</Link>
        {mayHaveActed > 0 && <span className="tone-attention"> {mayHaveActed} may have acted</span>}
        <span className="quiet-text">
          {" "}
          {agoText(updatedAt, now)}: <span dir="auto">{title}</span>
        </span>
        {next !== undefined && (
          <Link
            href={requestPath({ requestId, version: null, stepId: null, view: "graph" })}
            className="failure-next"
          >
            <span dir="auto">{next}</span> <span aria-hidden="true">→</span>
          </Link>
        )}
      </span>
      <button type="button" onClick={() => onRetry(filter)}>
        Run again …
      </button>
    </li>
  );
}
