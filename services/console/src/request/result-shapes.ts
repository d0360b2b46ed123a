/** What form an output has: a table, a series of numbers, Markdown. Pure; outputs are untrusted and of any size. */
import { isExactNumber, isJsonObject, unmarkNumbers, visibleText } from "@planwright/plan";

/** A cell of a table; an object or a list in it is its JSON text. */
export type Cell = string | number | boolean | null;

/** A list of objects as a table. */
export interface Grid {
  columns: readonly string[];
  rows: readonly (readonly Cell[])[];
  /** For each column: true when all its values are numbers. */
  isNumber: readonly boolean[];
}

const MAX_COLUMNS = 20;
/** Rows of which the columns are taken. */
const SAMPLE = 200;
/** A larger list is shown as JSON. */
const MAX_ROWS = 20_000;

/**
 * The table of a list of objects, or of plain values. Null for other values: also for objects that have so little in
 * common that most cells would be empty.
 */
export function gridOf(value: unknown): Grid | null {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_ROWS) return null;
  if (value.every(isPlain))
    return { columns: ["value"], rows: value.map((one) => [cellOf(one)]), isNumber: [value.every(isNumber)] };
  if (!value.every((one) => isJsonObject(one))) return null;
  const sample = value.slice(0, SAMPLE);
  const columns = [...new Set(sample.flatMap((one) => Object.keys(one)))];
  const filled = sample.reduce((sum, one) => sum + Object.keys(one).length, 0);
  if (columns.length === 0 || columns.length > MAX_COLUMNS || filled * 2 < columns.length * sample.length)
    return null;
  const rows = value.map((one) =>
    columns.map((column) => cellOf(Object.hasOwn(one, column) ? one[column] : null)),
  );
  const isNumberColumn = (index: number) =>
    rows.every((row) => row[index] === null || isNumber(row[index])) &&
    rows.some((row) => row[index] !== null);
  return { columns, rows, isNumber: columns.map((_, index) => isNumberColumn(index)) };
}

const isPlain = (value: unknown) => value === null || typeof value !== "object";
const isNumber = (value: unknown) => typeof value === "number" || isExactNumber(value);

function cellOf(value: unknown): Cell {
  if (value === null || value === undefined) return null;
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  return unmarkNumbers(JSON.stringify(value));
}

/** The text of a cell, in which nothing is hidden. */
export function cellText(cell: unknown): string {
  if (cell === null || cell === undefined) return "";
  if (typeof cell === "number")
    return cell.toLocaleString("en", { maximumFractionDigits: 6, useGrouping: false });
  if (isExactNumber(cell)) return unmarkNumbers(JSON.stringify(cell));
  return visibleText(typeof cell === "string" ? cell : JSON.stringify(cell));
}

/** Numbers over time. */
export interface Series {
  name: string;
  points: readonly { at: string; value: number }[];
}

const MIN_POINTS = 4;
const MAX_POINTS = 2_000;
/** "2026-10-01", with or without a time; "2026-10"; a year. */
const INSTANT = /^\d{4}(?:-\d{2}(?:-\d{2}(?:[T ]\d{2}:\d{2}[\d:.]*(?:Z|[+-]\d{2}:?\d{2})?)?)?)?$/u;

/** The numbers over time in a list of objects with one time and a number each; null for other values. */
export function seriesOf(value: unknown): Series | null {
  if (!Array.isArray(value) || value.length < MIN_POINTS || value.length > MAX_POINTS) return null;
  const [first] = value;
  if (!isJsonObject(first) || !value.every((one) => isJsonObject(one))) return null;
  const names = Object.keys(first);
  const time = names.find((name) =>
    value.every((one) => typeof one[name] === "string" && INSTANT.test(one[name])),
  );
  const number = names.find((name) => value.every((one) => typeof one[name] === "number"));
  if (time === undefined || number === undefined) return null;
  const points = value.flatMap((one) => {
    const at = one[time];
    return typeof at === "string" ? { at, value: Number(one[number]) } : [];
  });
  const isDistinct = new Set(points.map(({ at }) => at)).size === points.length;
  return isDistinct ? { name: number, points: points.toSorted((a, b) => (a.at < b.at ? -1 : 1)) } : null;
}

/** True for a text with marks of Markdown that plain texts rarely have. */
export function isMarkdown(text: string): boolean {
  const marks = [
    /^#{1,6}\s/mu,
    /^\s*[-*+]\s+\S/mu,
    /^\s*```/mu,
    /\*\*[^*\n]+\*\*/u,
    /\[[^\]\n]+\]\([^()\s]+\)/u,
  ];
  return marks.some((mark) => mark.test(text));
}
