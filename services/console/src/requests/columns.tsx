import { ownTimeText } from "@planwright/plan";
import type { ReactNode } from "react";
import { type RequestRow } from "../data/needs-operations.ts";
import { agoText, instantText } from "../design/text.ts";

/** The formats of times. */
export const TIME_MODES = ["relative", "local", "UTC"] as const;
export type TimeMode = (typeof TIME_MODES)[number];

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
    width: "80px",
    cell: ({ plan }) => plan && `${plan.counts.completed}/${plan.counts.total}`,
  },
  duration: {
    title: "duration",
    width: "96px",
    cell: ({ plan }) => {
      if (typeof plan?.durationMs !== "number") return null;
      const text = ownTimeText(plan.durationMs, plan.waitedForPeopleMs);
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

export type ColumnName = keyof typeof COLUMNS;

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
