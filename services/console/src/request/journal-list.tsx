import type { ResultOf } from "@planwright/client";
import { useEffect, useState } from "react";
import { type ApiProblem, problemOf } from "../data/api-problem.ts";
import { useClient } from "../data/client-context.ts";
import { READ_JOURNAL } from "../data/request-operations.ts";
import { instantText } from "../design/text.ts";
import { ProblemNote } from "../parts/problem-note.tsx";

type JournalEvent = ResultOf<typeof READ_JOURNAL>["events"]["nodes"][number];

/** Events of one page. */
const PAGE_SIZE = 100;
/** A page that could not be read for a passing reason is read again after this time. */
const READ_AGAIN_MS = 2_000;

/** The events of the journal. Reads the next page whenever the request has a newer entry. */
export function JournalList({
  requestId,
  seq,
  selected,
  at,
  onSelect,
  onAt,
}: {
  requestId: string;
  /** The last entry of the request. */
  seq: number;
  selected: string | null;
  /** The entry whose moment is shown; null: now. */
  at: number | null;
  onSelect: (stepId: string) => void;
  onAt: (seq: number) => void;
}) {
  const client = useClient();
  const [events, setEvents] = useState<JournalEvent[]>([]);
  const [cursor, setCursor] = useState<string | null>(null);
  const [hasMore, setHasMore] = useState(true);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const [attempt, setAttempt] = useState(0);
  const known = events.at(-1)?.seq ?? 0;

  useEffect(() => {
    if (!hasMore && known >= seq) return;
    const controller = new AbortController();
    const variables = { requestId, first: PAGE_SIZE, after: cursor };
    client.execute(READ_JOURNAL, variables, { signal: controller.signal }).then(
      ({ events: { nodes, pageInfo } }) => {
        setProblem(null);
        setEvents((before) => [...before, ...nodes]);
        setCursor(pageInfo.endCursor ?? cursor);
        setHasMore(pageInfo.hasNextPage);
      },
      (error: unknown) => controller.signal.aborted || setProblem(problemOf(error)),
    );
    return () => controller.abort();
  }, [client, requestId, cursor, hasMore, known, seq, attempt]);
  useEffect(() => {
    if (!problem?.isTemporary) return;
    const timer = setTimeout(() => setAttempt((before) => before + 1), READ_AGAIN_MS);
    return () => clearTimeout(timer);
  }, [problem]);

  const note = problem && <ProblemNote problem={problem} />;
  if (events.length === 0)
    return (
      note ?? (
        <p className="empty">Nothing is recorded yet: the journal begins when a worker claims the request.</p>
      )
    );
  return (
    <>
      {note}
      <table className="journal">
        <thead>
          <tr>
            <th>entry</th>
            <th>time</th>
            <th>event</th>
            <th>step</th>
            <th>what</th>
            <th>by</th>
          </tr>
        </thead>
        <tbody>
          {events.map((event) => (
            <tr
              key={event.id}
              className={rowClass(event, selected, at)}
              aria-current={event.seq === at ? "true" : undefined}
            >
              <td>
                <button
                  type="button"
                  className="link-button"
                  title="Show the request at this entry"
                  onClick={() => onAt(event.seq)}
                >
                  {event.seq}
                </button>
              </td>
              <td title={event.at}>{instantText(event.at).slice(11, 19)}</td>
              <td>
                <code>{event.type}</code>
              </td>
              <td>
                {event.stepId !== null && (
                  <button type="button" className="link-button" onClick={() => onSelect(event.stepId ?? "")}>
                    {event.key ?? event.stepId}
                  </button>
                )}
              </td>
              <td dir="auto">
                {[event.status, event.error?.code, event.error?.message, event.reason]
                  .filter(Boolean)
                  .join(" · ")}
              </td>
              <td>
                {event.by.kind} <span className="quiet-text">{event.by.id}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

/** Marks events of the selected step, and events later than the shown moment. */
function rowClass({ stepId, seq }: JournalEvent, selected: string | null, at: number | null): string {
  const isSelected = stepId !== null && stepId === selected;
  return `${isSelected ? "is-selected" : ""}${at !== null && seq > at ? " is-later" : ""}`;
}
