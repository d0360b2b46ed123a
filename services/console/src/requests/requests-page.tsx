import { durationText } from "@planwright/plan";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef, useState } from "react";
import { Link, useLocation, useSearch } from "wouter";
import { useNow } from "../browser/use-now.ts";
import type { RequestRow } from "../data/operations.ts";
import { lookOf, REQUEST_LOOK } from "../design/statuses.ts";
import { agoText } from "../design/text.ts";
import { ProblemNote } from "../parts/problem-note.tsx";
import { StatusBadge } from "../parts/status-badge.tsx";
import { requestPath } from "../request/paths.ts";
import { filterOf, withPart } from "./filter.ts";
import { NeedsYou } from "./needs-you.tsx";
import { NewRequest } from "./new-request.tsx";
import { useRequestList } from "./use-request-list.ts";

const ROW_HEIGHT = 46;

/** What needs a person, then all requests, newest first. The filter stands in the address. */
export function RequestsPage() {
  const search = new URLSearchParams(useSearch());
  const [, navigate] = useLocation();
  const { rows, problem, readMore } = useRequestList(filterOf(search));
  return (
    <main className="requests-page">
      <h1 className="hidden">Requests of Planwright</h1>
      <NewRequest />
      <NeedsYou />
      <section aria-label="Requests">
        <div className="filters">
          <h2>Requests</h2>
          <SearchField
            value={search.get("text") ?? ""}
            onSearch={(text) => navigate(withPart(search, "text", text))}
          />
          <label>
            status{" "}
            <select
              value={search.get("status") ?? ""}
              onChange={({ target }) => navigate(withPart(search, "status", target.value))}
            >
              <option value="">all</option>
              {Object.entries(REQUEST_LOOK).map(([status, { word }]) => (
                <option key={status} value={status}>
                  {word}
                </option>
              ))}
            </select>
          </label>
          {["needs", "tag", "tool", "errorCode"].map((name) =>
            search.get(name) ? (
              <button
                key={name}
                type="button"
                className="tag"
                onClick={() => navigate(withPart(search, name, ""))}
              >
                {name}: {search.get(name)} <span aria-label="remove">✕</span>
              </button>
            ) : null,
          )}
        </div>
        {problem && <ProblemNote problem={problem} />}
        {rows === null && !problem && <p className="empty">Reading …</p>}
        {rows?.length === 0 && (
          <p className="empty">No request fits. {search.size > 0 && <Link href="/">All requests</Link>}</p>
        )}
        {rows && rows.length > 0 && <RequestTable rows={rows} />}
        {readMore && (
          <button type="button" className="more" onClick={readMore}>
            Older requests
          </button>
        )}
      </section>
    </main>
  );
}

function SearchField({ value, onSearch }: { value: string; onSearch: (text: string) => void }) {
  const [text, setText] = useState(value);
  return (
    <form
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        onSearch(text);
      }}
    >
      <label>
        <span className="hidden">Text in the sentence</span>
        <input
          type="search"
          value={text}
          maxLength={200}
          placeholder="text in the sentence"
          onChange={({ target }) => setText(target.value)}
        />
      </label>
    </form>
  );
}

function RequestTable({ rows }: { rows: readonly RequestRow[] }) {
  const now = useNow();
  const frame = useRef<HTMLDivElement>(null);
  const shown = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 10,
  });
  return (
    <div
      className="request-table"
      ref={frame}
      role="table"
      aria-label="Requests, newest first"
      aria-rowcount={rows.length}
    >
      <div role="rowgroup" style={{ height: shown.getTotalSize(), position: "relative" }}>
        {shown.getVirtualItems().map(({ index, start }) => {
          const row = rows[index];
          return row ? <Row key={row.requestId} row={row} index={index} start={start} now={now} /> : null;
        })}
      </div>
    </div>
  );
}

function Row({ row, index, start, now }: { row: RequestRow; index: number; start: number; now: number }) {
  const code = row.error?.code ?? row.plan?.error?.code;
  const counts = row.plan?.counts;
  return (
    <div
      role="row"
      aria-rowindex={index + 1}
      className="request-row"
      style={{ height: ROW_HEIGHT, transform: `translateY(${start}px)` }}
    >
      <span role="cell">
        <StatusBadge look={lookOf(REQUEST_LOOK, row.status)} />
      </span>
      <span role="cell" className="request-cell-query" dir="auto">
        <Link href={requestPath({ requestId: row.requestId, version: null, stepId: null, view: "graph" })}>
          {row.query ?? "A plan submitted as JSON"}
        </Link>
      </span>
      <span role="cell" className="quiet-text">
        {code !== undefined && <code>{code}</code>}
      </span>
      <span role="cell" className="quiet-text">
        {counts && `${counts.completed}/${counts.total} steps`}
      </span>
      <span role="cell" className="quiet-text">
        {typeof row.plan?.durationMs === "number" && durationText(row.plan.durationMs)}
      </span>
      <span role="cell" className="quiet-text" title={row.createdAt}>
        {agoText(row.createdAt, now)}
      </span>
    </div>
  );
}
