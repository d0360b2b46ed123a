import { requestLook } from "@planwright/client";
import { countText, numberText, ownTimeText } from "@planwright/plan";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useRef } from "react";
import { Link } from "wouter";
import { useIsNarrow, useNow } from "../data/browser.ts";
import type { RequestRow } from "../data/list-operations.ts";
import { Pill } from "../parts/elements.tsx";
import { agoText, expiryText, instantText, inText } from "../parts/looks.ts";
import { requestPath } from "../request/paths.ts";

const ROW_HEIGHT = 40;

/** On a phone or a tablet, where the columns have no room, a row is a card of two lines, or of three if more is shown. */
const CARD_HEIGHT = 60;
const HIGH_CARD_HEIGHT = 80;

/** The width of the screen up to which rows are cards, in pixels; the style sheet has the same. */
const CARDS_TO_WIDTH = 900;

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
  const now = useNow();
  const isPhone = useIsNarrow();
  const isCards = useIsNarrow(CARDS_TO_WIDTH);
  const hasMore = isPhone || columns.length > DEFAULT_COLUMNS.length;
  const cardHeight = hasMore ? HIGH_CARD_HEIGHT : CARD_HEIGHT;
  const rowHeight = isCards ? cardHeight : ROW_HEIGHT;
  const frame = useRef<HTMLDivElement>(null);
  const shown = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => rowHeight,
    overscan: 10,
  });
  // The heights that were measured are those of the other layout.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new height changes what is drawn.
  useEffect(() => shown.measure(), [shown, rowHeight]);
  const items = shown.getVirtualItems();
  useReadAhead(items.at(-1)?.index ?? 0, rows.length, frame.current?.scrollTop ? readMore : null);
  const gridTemplateColumns = isCards
    ? undefined
    : ["184px", "minmax(160px, 1fr)", ...columns.map((name) => COLUMNS[name].width)].join(" ");
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
                style={{ height: rowHeight, transform: `translateY(${start}px)`, gridTemplateColumns }}
              >
                <span role="cell" className="request-cell request-cell-status">
                  <Pill look={requestLook({ ...row, waitReason: null })} />
                </span>
                <span role="cell" className="request-cell-query">
                  {row.plan !== null && row.plan.mayHaveActed > 0 && (
                    <span className="tone-attention" title={actedTitle(row.plan.mayHaveActed)}>
                      may have acted:{" "}
                    </span>
                  )}
                  <Link
                    href={requestPath({
                      requestId: row.requestId,
                      version: null,
                      stepId: null,
                      view: null,
                    })}
                  >
                    <bdi>{row.title}</bdi>
                  </Link>
                  {row.plan !== null && row.plan.expiresAt !== null && (
                    <span className="tone-attention" title={expiryText(row.plan.expiresAt)}>
                      {" "}
                      expires {inText(row.plan.expiresAt, now)}
                    </span>
                  )}
                </span>
                {columns.map((name) => (
                  <span key={name} role="cell" className={`quiet-text request-cell request-cell-${name}`}>
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

/** The formats of times. */
export const TIME_MODES = ["relative", "local", "UTC"] as const;
type TimeMode = (typeof TIME_MODES)[number];

/** Options of a cell. */
interface CellOptions {
  now: number;
  time: TimeMode;
}

/** An optional column, beside status and sentence. */
interface Column {
  title: string;
  /** As in `grid-template-columns`. */
  width: string;
  cell: (row: RequestRow, options: CellOptions) => ReactNode;
}

export const COLUMNS = {
  error: {
    title: "error",
    // On a narrow screen it shrinks in favour of the sentence.
    width: "minmax(90px, 0.3fr)",
    cell: ({ error, plan }) => {
      const code = error?.code ?? plan?.error?.code;
      return code === undefined ? null : <code title={code}>{code}</code>;
    },
  },
  steps: {
    title: "steps",
    width: "84px",
    cell: ({ plan }) => plan && `${numberText(plan.counts.completed)}/${numberText(plan.counts.total)}`,
  },
  duration: {
    title: "duration",
    width: "148px",
    cell: ({ plan }, options?: CellOptions) => {
      if (typeof plan?.durationMs !== "number") return null;
      const text = ownTimeText(ownMs(plan, options?.now), plan.waitedForPeopleMs);
      return <span title={text}>{text}</span>;
    },
  },
  created: {
    title: "asked",
    width: "minmax(86px, max-content)",
    cell: ({ createdAt }, options) => <Instant at={createdAt} {...options} />,
  },
  updated: {
    title: "changed",
    width: "minmax(86px, max-content)",
    cell: ({ updatedAt }, options) => <Instant at={updatedAt} {...options} />,
  },
  version: { title: "version", width: "64px", cell: ({ version }) => version },
  tags: { title: "tags", width: "140px", cell: ({ tags }) => tags.join(", ") },
  id: { title: "id", width: "280px", cell: ({ requestId }) => <code>{requestId}</code> },
} satisfies Record<string, Column>;

type ColumnName = keyof typeof COLUMNS;

/** The default columns. */
const DEFAULT_COLUMNS: readonly ColumnName[] = ["error", "steps", "duration", "created"];

/** The columns that an address names: `?columns=error,tags`. */
export function columnsOf(search: URLSearchParams): ColumnName[] {
  const named = search.get("columns");
  if (named === null) return [...DEFAULT_COLUMNS];
  const wanted = new Set(named.split(","));
  return columnNames().filter((name) => wanted.has(name));
}

/** All columns, in order. */
export function columnNames(): ColumnName[] {
  return Object.keys(COLUMNS) as ColumnName[];
}

/** The format of times that an address names: `?time=UTC`. */
export function timeModeOf(search: URLSearchParams): TimeMode {
  return TIME_MODES.find((mode) => mode === search.get("time")) ?? "relative";
}

/** A plan's own time; that of a running plan grows with the clock of the page. */
function ownMs(
  { status, startedAt, durationMs, waitedForPeopleMs }: NonNullable<RequestRow["plan"]>,
  now: number | undefined,
): number {
  const readMs = durationMs ?? 0;
  if (status !== "RUNNING" || startedAt === null || now === undefined) return readMs;
  return Math.max(readMs, now - Date.parse(startedAt) - (waitedForPeopleMs ?? 0));
}

function Instant({ at, now, time }: CellOptions & { at: string }) {
  return (
    <time dateTime={at} title={instantText(at)}>
      {timeText(at, { now, time })}
    </time>
  );
}

/** An instant in the format of the list. */
export function timeText(at: string, { now, time }: CellOptions): string {
  if (time === "relative") return agoText(at, now);
  if (time === "UTC") return instantText(at);
  const date = new Date(at);
  const two = (part: number) => String(part).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
