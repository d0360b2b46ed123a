import "./results.css";
import type { PlanRun } from "@planwright/client";
import {
  countText,
  isExactNumber,
  isJsonObject,
  numberText,
  sizeText,
  unmarkNumbers,
  visibleText,
} from "@planwright/plan";
import { type ReactNode, useMemo, useState } from "react";
import { READ_RESULTS } from "../data/request-operations.ts";
import { type ApiProblem, problemOf, useClient, useRead } from "../data/use-api.ts";
import { CopyButton, ProblemNote } from "../parts/elements.tsx";
import { JsonTree } from "../parts/json-tree.tsx";
import {
  type Cell,
  cellText,
  type Grid,
  gridOf,
  isMarkdown,
  type Series,
  seriesOf,
} from "./result-shapes.ts";

/**
 * What a plan gave: the answer in words, then each output as a person reads it. Everything in it was written by tools
 * and models: it is shown as text, never as HTML, and nothing is loaded from another place.
 */
export function Results({ plan, answer }: { plan: PlanRun; answer: string | null }) {
  const { data, problem } = useRead(READ_RESULTS, { planId: plan.planId }, plan.status);
  if (problem) return <ProblemNote problem={problem} />;
  if (!data) return <p className="empty">Reading the results …</p>;
  const outputs = isJsonObject(data.plan?.outputs) ? Object.entries(data.plan.outputs) : [];
  const references = new Map((data.plan?.outputReferences ?? []).map((one) => [one.name, one]));
  if (outputs.length === 0 && answer === null)
    return <p className="empty">{emptyText(plan.finishedAt !== null)}</p>;
  return (
    <div className="results">
      {answer !== null && (
        <article className="result" aria-label="Answer">
          <div className="answer">
            <Markdown text={answer} />
          </div>
        </article>
      )}
      {outputs.slice(0, MAX_OUTPUTS).map(([name, value]) => {
        const reference = references.get(name);
        return reference ? (
          <LargeResult key={name} reference={reference} />
        ) : (
          <Result key={name} name={name} value={value} />
        );
      })}
      {outputs.length > MAX_OUTPUTS && (
        <p className="quiet-text">
          The first {MAX_OUTPUTS} of {numberText(outputs.length)} outputs. The others are at their steps.
        </p>
      )}
    </div>
  );
}

/** Most outputs that are drawn. */
const MAX_OUTPUTS = 60;

function emptyText(hasEnded: boolean): string {
  return hasEnded ? "It ended without an output." : "The results appear here when the plan has ended.";
}

/** One output, with its actions. */
function Result({ name, value }: { name: string; value: unknown }) {
  const [isRaw, setIsRaw] = useState(false);
  const json = useMemo(() => unmarkNumbers(JSON.stringify(value, null, 2) ?? "null"), [value]);
  // A tool often returns one field; its value is what a person wants to read.
  const content = contentOf(value);
  const grid = useMemo(() => gridOf(content), [content]);
  const isText = typeof content === "string" && !isExactNumber(content);
  const hasOtherForm = isText || grid !== null || isJsonObject(content);
  return (
    <article className="result" aria-label={`Output ${name}`}>
      <header className="result-head">
        <h2>{visibleText(name)}</h2>
        <span className="quiet-text">{sizeOf(content)}</span>
        <span className="result-actions">
          {hasOtherForm && (
            <button
              type="button"
              className="quiet-button"
              aria-pressed={isRaw}
              onClick={() => setIsRaw(!isRaw)}
            >
              as JSON
            </button>
          )}
          <CopyButton text={copyText(content, grid, isRaw, json)} label="copy" />
          <SaveButton name={`${name}.json`} text={json} />
        </span>
      </header>
      {isRaw ? <JsonTree label={name} value={value} /> : <Content name={name} value={content} depth={0} />}
    </article>
  );
}

/** What a copy has: rows for a spreadsheet, plain text, otherwise JSON. */
function copyText(content: unknown, grid: Grid | null, isRaw: boolean, json: string): string {
  if (isRaw) return json;
  if (grid) return [grid.columns, ...grid.rows.map((row) => row.map(cellText))].map(tabbed).join("\n");
  return typeof content === "string" && !isExactNumber(content) ? content : json;
}

const tabbed = (cells: readonly string[]) =>
  cells.map((cell) => cell.replaceAll(/[\t\r\n]+/g, " ")).join("\t");

/** The value of an output that has only one field beside the name of its tool; otherwise the output. */
function contentOf(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  const fields = Object.entries(value).filter(
    ([name, inner]) => !(name === "tool" && typeof inner === "string"),
  );
  const [only] = fields;
  return fields.length === 1 && only && CONTENT_FIELDS.has(only[0]) ? only[1] : value;
}

/** Names that say nothing about their value. */
const CONTENT_FIELDS: ReadonlySet<string> = new Set([
  "value",
  "result",
  "results",
  "data",
  "items",
  "text",
  "content",
]);

function sizeOf(value: unknown): string {
  if (Array.isArray(value)) return `${numberText(value.length)} ${value.length === 1 ? "entry" : "entries"}`;
  if (typeof value === "string" && !isExactNumber(value) && value.length > 200)
    return `${numberText(value.length)} characters`;
  return "";
}

/** Saves a text as a file of the user. */
function SaveButton({ name, text }: { name: string; text: string }) {
  return (
    <button type="button" className="quiet-button" onClick={() => save(name, [text])}>
      download
    </button>
  );
}

function save(name: string, parts: BlobPart[]): void {
  const url = URL.createObjectURL(new Blob(parts, { type: "application/json" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = visibleText(name).replaceAll(/[^\p{L}\p{N}._ -]/gu, "_");
  link.click();
  URL.revokeObjectURL(url);
}

/** An output that is too large for an answer: its beginning, and the whole as a file. */
function LargeResult({
  reference: { name, ref, sizeBytes, preview },
}: {
  reference: { name: string; ref: string; sizeBytes: number | null; preview: string | null };
}) {
  const client = useClient();
  const [isReading, setIsReading] = useState(false);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  async function download(): Promise<void> {
    setIsReading(true);
    try {
      const parts: BlobPart[] = [];
      for await (const part of await client.download(ref)) parts.push(new Uint8Array(part));
      save(`${name}.json`, parts);
      setProblem(null);
    } catch (error) {
      setProblem(problemOf(error, "read"));
    } finally {
      setIsReading(false);
    }
  }
  const size = sizeBytes === null ? "large" : sizeText(sizeBytes);
  return (
    <article className="result" aria-label={`Output ${name}`}>
      <header className="result-head">
        <h2>{visibleText(name)}</h2>
        <span className="quiet-text">{size}, the beginning</span>
        <span className="result-actions">
          <button type="button" disabled={isReading} onClick={() => void download()}>
            {isReading ? "Downloading …" : `Download ${size}`}
          </button>
        </span>
      </header>
      {preview !== null && <pre dir="auto">{visibleText(preview)} …</pre>}
      {problem && <ProblemNote problem={problem} />}
    </article>
  );
}

/** Objects inside objects are drawn as fields down to this depth; below it as a tree. */
const MAX_DEPTH = 2;

/** A value in the form that its shape asks for. */
function Content({
  name: label,
  value,
  depth,
}: {
  /** The name of the output, with that of the field. */
  name: string;
  value: unknown;
  depth: number;
}): ReactNode {
  if (typeof value === "string" && !isExactNumber(value)) return <TextValue text={value} />;
  if (value === null || typeof value !== "object")
    return <p className="result-atom">{value === null ? "nothing (null)" : cellText(value)}</p>;
  const block = isJsonObject(value) ? blockOf(value) : null;
  if (block) return block;
  const series = seriesOf(value);
  const grid = gridOf(value);
  if (grid)
    return (
      <>
        {series && <Chart series={series} />}
        <DataTable name={label} grid={grid} />
      </>
    );
  if (series) return <Chart series={series} />;
  if (isJsonObject(value) && depth < MAX_DEPTH && Object.keys(value).length <= 40) {
    return (
      <dl className="result-fields">
        {Object.entries(value).map(([name, inner]) => (
          <div key={name}>
            <dt>{visibleText(name)}</dt>
            <dd>
              <Content name={`${label}.${name}`} value={inner} depth={depth + 1} />
            </dd>
          </div>
        ))}
      </dl>
    );
  }
  return <JsonTree label="JSON" value={value} />;
}

/** Blocks of the Model Context Protocol: an image is named with its size and never drawn, a link is a link. */
function blockOf(value: Readonly<Record<string, unknown>>): ReactNode {
  const { type, mimeType, data, text, uri, name, title } = value;
  if (type === "text" && typeof text === "string") return <TextValue text={text} />;
  if ((type === "image" || type === "audio") && typeof data === "string") {
    // Four characters of base64 are three bytes.
    const size = sizeText(Math.floor((data.length * 3) / 4));
    return (
      <p className="result-block">
        <span aria-hidden="true">▣</span> {type},{" "}
        {typeof mimeType === "string" ? visibleText(mimeType) : "unknown type"}, {size}
      </p>
    );
  }
  if (type === "resource_link" && typeof uri === "string") {
    const label = typeof title === "string" ? title : typeof name === "string" ? name : uri;
    return (
      <p className="result-block">
        <SafeLink href={uri}>{visibleText(label)}</SafeLink>
      </p>
    );
  }
  return null;
}

function TextValue({ text }: { text: string }) {
  const [isWhole, setIsWhole] = useState(false);
  const shown = isWhole ? text : text.slice(0, MAX_CHARACTERS);
  return (
    <>
      {isMarkdown(shown) ? (
        <Markdown text={shown} />
      ) : (
        <p className="result-text" dir="auto">
          {linked(shown)}
        </p>
      )}
      {shown.length < text.length && (
        <button type="button" onClick={() => setIsWhole(true)}>
          All {numberText(text.length)} characters
        </button>
      )}
    </>
  );
}

/** Characters of a text that are drawn at first. */
const MAX_CHARACTERS = 20_000;

/** Schemes that a link may have: all others, such as `javascript:` and `data:`, are text. */
const SAFE = /^(?:https?:\/\/|mailto:)[^\s<>"]+$/iu;

/** A link to another site, which does not learn where it is from; an address with another scheme is text. */
function SafeLink({ href, children }: { href: string; children: ReactNode }) {
  if (!SAFE.test(href) || visibleText(href) !== href) return <>{children}</>;
  return (
    <a href={href} target="_blank" rel="noreferrer noopener" title={href}>
      {children}
    </a>
  );
}

const ADDRESS = /(https?:\/\/[^\s<>"')\]]+)/u;

/** A text in which addresses are links. */
function linked(text: string): ReactNode[] {
  return text.split(ADDRESS).map((part, index) =>
    index % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no ids.
      <SafeLink key={index} href={part}>
        {visibleText(part)}
      </SafeLink>
    ) : (
      visibleText(part)
    ),
  );
}

/**
 * The part of Markdown that people write in answers: headings, lists, quotes, code, emphasis and links. Made as
 * elements from text: what it does not know stays text, HTML too.
 */
function Markdown({ text }: { text: string }) {
  return (
    <div className="markdown" dir="auto">
      {blocksOf(text)}
    </div>
  );
}

function blocksOf(text: string): ReactNode[] {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const blocks: ReactNode[] = [];
  for (let at = 0; at < lines.length; ) {
    const key = at;
    const line = lines[at] ?? "";
    const heading = /^(#{1,6})\s+(.*)$/u.exec(line);
    if (/^\s*```/u.test(line)) {
      const end = lines.findIndex((other, index) => index > at && /^\s*```/u.test(other));
      const to = end === -1 ? lines.length : end;
      blocks.push(<pre key={key}>{visibleText(lines.slice(at + 1, to).join("\n"))}</pre>);
      at = to + 1;
    } else if (heading) {
      blocks.push(<h3 key={key}>{spansOf(heading[2] ?? "")}</h3>);
      at += 1;
    } else if (LIST_ITEM.test(line)) {
      const isOrdered = /^\s*\d/u.test(line);
      const items: ReactNode[] = [];
      for (; LIST_ITEM.test(lines[at] ?? ""); at += 1)
        items.push(<li key={at}>{spansOf((lines[at] ?? "").replace(LIST_ITEM, ""))}</li>);
      blocks.push(isOrdered ? <ol key={key}>{items}</ol> : <ul key={key}>{items}</ul>);
    } else if (line.startsWith(">")) {
      const quoted: string[] = [];
      for (; (lines[at] ?? "").startsWith(">"); at += 1) quoted.push((lines[at] ?? "").replace(/^>\s?/u, ""));
      blocks.push(<blockquote key={key}>{spansOf(quoted.join("\n"))}</blockquote>);
    } else if (line.trim() === "") at += 1;
    else {
      const paragraph: string[] = [];
      for (; isPlain(lines[at]); at += 1) paragraph.push(lines[at] ?? "");
      blocks.push(<p key={key}>{spansOf(paragraph.join("\n"))}</p>);
    }
  }
  return blocks;
}

const LIST_ITEM = /^\s*(?:[-*+]|\d{1,9}[.)])\s+/u;

const isPlain = (line: string | undefined) =>
  line !== undefined && line.trim() !== "" && !/^(?:#{1,6}\s|>|\s*```)/u.test(line) && !LIST_ITEM.test(line);

const SPAN = /(`[^`\n]+`|\*\*[^*\n]+\*\*|\[[^\]\n]{1,500}\]\([^()\s]{1,2000}\))/u;

/** Code, bold text and links inside a line. */
function spansOf(text: string): ReactNode[] {
  return text.split(SPAN).flatMap((part, index): ReactNode[] => {
    if (index % 2 === 0) return linked(part).map((node, at) => <span key={`${index}.${at}`}>{node}</span>);
    if (part.startsWith("`")) return [<code key={index}>{visibleText(part.slice(1, -1))}</code>];
    if (part.startsWith("**")) return [<strong key={index}>{visibleText(part.slice(2, -2))}</strong>];
    const [, label = "", href = ""] = /^\[([^\]]*)\]\(([^)]*)\)$/u.exec(part) ?? [];
    return [
      <SafeLink key={index} href={href}>
        {visibleText(label)}
      </SafeLink>,
    ];
  });
}

/** Rows of a table that are drawn at first. */
const FIRST_ROWS = 50;

/** A list of objects: sorted by a click on a column. */
function DataTable({ name, grid: { columns, rows, isNumber } }: { name: string; grid: Grid }) {
  const [sort, setSort] = useState<{ column: number; isDown: boolean } | null>(null);
  const [shown, setShown] = useState(FIRST_ROWS);
  const sorted = useMemo(() => (sort ? rows.toSorted(by(sort)) : rows), [rows, sort]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so it can be reached by keyboard.
    <section className="result-table" aria-label={`Table ${visibleText(name)}`} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map((column, index) => (
              <th
                key={column}
                scope="col"
                className={isNumber[index] ? "is-number" : ""}
                aria-sort={sort?.column !== index ? "none" : sort.isDown ? "descending" : "ascending"}
              >
                <button
                  type="button"
                  onClick={() =>
                    setSort({ column: index, isDown: sort?.column === index ? !sort.isDown : false })
                  }
                >
                  {visibleText(column)}
                  <span aria-hidden="true" className="sort-mark">
                    {sort?.column !== index ? "" : sort.isDown ? " ↓" : " ↑"}
                  </span>
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.slice(0, shown).map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows of an output have no ids.
            <tr key={at}>
              {row.map((cell, index) => (
                <td
                  key={columns[index]}
                  dir="auto"
                  className={isNumber[index] ? "is-number" : ""}
                  title={cellText(cell).length > 80 ? cellText(cell).slice(0, 1_000) : undefined}
                >
                  {typeof cell === "string" && !isExactNumber(cell)
                    ? linked(cell.slice(0, 300))
                    : cellText(cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > shown && (
        <button type="button" onClick={() => setShown(shown + 500)}>
          {numberText(Math.min(500, rows.length - shown))} more of {numberText(rows.length)}
        </button>
      )}
    </section>
  );
}

const by =
  ({ column, isDown }: { column: number; isDown: boolean }) =>
  (one: readonly Cell[], other: readonly Cell[]): number => {
    const [a, b] = [one[column] ?? null, other[column] ?? null];
    // Cells without a value come last in both directions.
    if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
    const order =
      typeof a === "number" && typeof b === "number"
        ? a - b
        : cellText(a).localeCompare(cellText(b), "en", { numeric: true });
    return isDown ? -order : order;
  };

const CHART = { width: 720, height: 160, left: 52, right: 12, top: 10, bottom: 22 };

/** Numbers over time as a line; the table below it, and its label, have the numbers. */
function Chart({ series: { name, points } }: { series: Series }) {
  const values = points.map(({ value }) => value);
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const span = high - low || 1;
  const { width, height, left, right, top, bottom } = CHART;
  const x = (index: number) => left + (index / Math.max(1, points.length - 1)) * (width - left - right);
  const y = (value: number) => top + ((high - value) / span) * (height - top - bottom);
  const line = points.map(({ value }, index) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
  const [first, last] = [points[0], points.at(-1)];
  const label = `${visibleText(name)}: ${countText(points.length, "value")}, from ${numberText(Math.min(...values), 2)} to ${numberText(Math.max(...values), 2)}`;
  return (
    <svg className="result-chart" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
      {[high, (high + low) / 2, low].map((value) => (
        <g key={value}>
          <line x1={left} x2={width - right} y1={y(value)} y2={y(value)} />
          <text x={left - 6} y={y(value) + 4} textAnchor="end">
            {numberText(value, 2)}
          </text>
        </g>
      ))}
      <polyline points={line} />
      {points.length <= 60 &&
        points.map(({ at, value }, index) => (
          <circle key={at} cx={x(index)} cy={y(value)} r={2.5}>
            <title>{`${visibleText(at)}: ${numberText(value, 2)}`}</title>
          </circle>
        ))}
      <text x={left} y={height - 6}>
        {visibleText(first?.at ?? "")}
      </text>
      <text x={width - right} y={height - 6} textAnchor="end">
        {visibleText(last?.at ?? "")}
      </text>
    </svg>
  );
}
