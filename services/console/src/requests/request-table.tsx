import { requestLook } from "@planwright/client";
import { countText } from "@planwright/plan";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef } from "react";
import { Link } from "wouter";
import { useNow } from "../browser/use-now.ts";
import { type RequestRow } from "../data/needs-operations.ts";
import { expiryText } from "../design/text.ts";
import { StatusBadge } from "../parts/status-badge.tsx";
import { requestPath } from "../request/paths.ts";
import { COLUMNS, type ColumnName, type TimeMode } from "./columns.tsx";

const ROW_HEIGHT = 40;

/** The next page is read when this many rows or fewer remain. */
const READ_AHEAD_ROWS = 10;

/**
 * A list of requests of any length: only visible rows are drawn, and older requests are read near the end.
 */
export function RequestTable({
  rows,
  columns,
  time,
  readMore,
}: {
  rows: readonly RequestRow[];
  columns: readonly ColumnName[];
  time: TimeMode;
  readMore: (() => void) | null;
}) {
  const now = useNow(time === "relative");
  const frame = useRef<HTMLDivElement>(null);
  const shown = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 10,
  });
  const items = shown.getVirtualItems();
  useReadAhead(items.at(-1)?.index ?? 0, rows.length, frame.current?.scrollTop ? readMore : null);
  const gridTemplateColumns = ["190px", "minmax(0, 1fr)", ...columns.map((name) => COLUMNS[name].width)].join(
    " ",
  );
  return (
    // Focusable, so that the keyboard can scroll it.
    <div className="request-table" ref={frame} tabIndex={0} role="group" aria-label="Requests, newest first">
      <div role="table" aria-label="Requests, newest first" aria-rowcount={rows.length + 1}>
        <div role="rowgroup" className="request-header">
          <div role="row" aria-rowindex={1} className="request-cells" style={{ gridTemplateColumns }}>
            {["status", "sentence", ...columns.map((name) => COLUMNS[name].title)].map((title) => (
              <span key={title} role="columnheader">
                {title}
              </span>
            ))}
          </div>
        </div>
        <div role="rowgroup" style={{ height: shown.getTotalSize(), position: "relative" }}>
          {items.map(({ index, start }) => {
            const row = rows[index];
            if (!row) return null;
            return (
              <div
                key={row.requestId}
                role="row"
                aria-rowindex={index + 2}
                className="request-row request-cells"
                style={{ height: ROW_HEIGHT, transform: `translateY(${start}px)`, gridTemplateColumns }}
              >
                <span role="cell" className="request-cell">
                  <StatusBadge look={requestLook({ ...row, waitReason: null })} />
                </span>
                <span role="cell" className="request-cell-query" dir="auto">
                  {row.plan !== null && row.plan.mayHaveActed > 0 && (
                    <span className="tone-attention" title={actedTitle(row.plan.mayHaveActed)}>
                      may have acted:{" "}
                    </span>
                  )}
                  {row.plan !== null && row.plan.expiresAt !== null && (
                    <span className="tone-attention">{expiryText(row.plan.expiresAt)}: </span>
                  )}
                  <Link
                    href={requestPath({
                      requestId: row.requestId,
                      version: null,
                      stepId: null,
                      view: "graph",
                    })}
                  >
                    {row.title}
                  </Link>
                </span>
                {columns.map((name) => (
                  <span key={name} role="cell" className="quiet-text request-cell">
                    {COLUMNS[name].cell(row, { now, time })}
                  </span>
                ))}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

function actedTitle(count: number): string {
  return `${countText(count, "call")} failed or stopped, and may have acted before; a rerun leaves them out unless you name their steps`;
}

/** Reads the next page once when the last rows are shown. */
function useReadAhead(lastShown: number, count: number, readMore: (() => void) | null): void {
  const askedAt = useRef(-1);
  useEffect(() => {
    if (readMore === null || lastShown < count - READ_AHEAD_ROWS || askedAt.current === count) return;
    askedAt.current = count;
    readMore();
  });
}
