/** The page of all requests: the sentence for a new one, and the list with its filter, which the address keeps. */
import "./requests.css";
import type { VariablesOf } from "@planwright/client";
import { boundedText, durationText, type RequestStatus } from "@planwright/plan";
import { type FormEvent, type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import { Link, useLocation, useSearch } from "wouter";
import { isInField, useTitle } from "../data/browser.ts";
import { READ_WORKLOAD, type WorkloadFacts } from "../data/catalogue-operations.ts";
import { FOLLOW_REQUESTS, READ_REQUESTS, type RequestRow } from "../data/list-operations.ts";
import { CREATE_PLAN } from "../data/request-operations.ts";
import { type ApiProblem, problemOf, useAction, useClient, useRegularRead } from "../data/use-api.ts";
import { useStream } from "../data/use-stream.ts";
import { Button, Check, EmptyState, ProblemNote } from "../parts/elements.tsx";
import { NEED_LOOK, REQUEST_LOOK } from "../parts/looks.ts";
import { requestPath } from "../request/paths.ts";
import { FleetLine } from "../system/fleet-line.tsx";
import { BULK, BulkDialog, type BulkKind } from "./bulk-dialog.tsx";
import { Failures, FirstRun, NEEDS, NeedsYou } from "./home-cards.tsx";
import { COLUMNS, columnNames, columnsOf, RequestTable, TIME_MODES, timeModeOf } from "./request-table.tsx";

/** The requests that need a person, then all requests, newest first. The filter is stored in the address. */
export function RequestsPage() {
  const search = new URLSearchParams(useSearch());
  const [, navigate] = useLocation();
  const filter = filterOf(search);
  const isFiltered = Object.keys(filter).length > 0;
  const { rows, problem, readMore } = useRequestList(filter, search.get("live") !== "off");
  const [bulk, setBulk] = useState<BulkKind | null>(null);
  useTitle(titleOf(search));
  const [sentence, setSentence] = useState("");
  const isEmpty = rows?.length === 0 && !isFiltered;
  return (
    <main className="requests-page">
      <h1 className="hidden">Requests of Planwright</h1>
      <NewRequest query={sentence} onQuery={setSentence} />
      {!isFiltered && <FleetLine />}
      {!isFiltered && !isEmpty && (
        <div className="home-cards">
          <NeedsYou />
          <Failures />
        </div>
      )}
      {isEmpty && <FirstRun onTry={setSentence} />}
      <section aria-label="Requests" className="request-list" hidden={isEmpty}>
        <ListBar
          search={search}
          onChange={(name, value, options) => navigate(withPart(search, name, value), options)}
          onBulk={setBulk}
        >
          {!isFiltered && <WorkloadLine />}
        </ListBar>
        {problem && <ProblemNote problem={problem} />}
        {rows === null && !problem && <p className="empty">Reading …</p>}
        {rows?.length === 0 && (
          <EmptyState title="No request matches." actions={<Link href="/">All requests</Link>}>
            <p>No request fits the filter. Change it, or look at all requests.</p>
          </EmptyState>
        )}
        {rows && rows.length > 0 && (
          <RequestTable
            rows={rows}
            columns={columnsOf(search)}
            time={timeModeOf(search)}
            readMore={readMore}
          />
        )}
        {readMore && (
          <Button className="more" onClick={readMore}>
            Older requests
          </Button>
        )}
      </section>
      {bulk && <BulkDialog kind={bulk} subject={{ filter }} onClose={() => setBulk(null)} />}
    </main>
  );
}

/** What the list shows, for the tab of the browser. */
function titleOf(search: URLSearchParams): string {
  const needs = NEEDS.find((need) => need === search.get("needs"));
  const parts = [
    ...search.getAll("status").map((status) => status.toLowerCase().replaceAll("_", " ")),
    ...(needs ? [NEED_LOOK[needs].word] : []),
    ...["text", "tool", "errorCode", "tag"].flatMap((name) => search.get(name) ?? []),
  ];
  return parts.length === 0 ? "Requests" : `Requests: ${parts.join(", ")}`;
}

/** Sends one sentence and opens the page of the new request. */
function NewRequest({ query, onQuery }: { query: string; onQuery: (query: string) => void }) {
  const [, navigate] = useLocation();
  const [isExecuting, setIsExecuting] = useState(true);
  const { run, isPending, problem } = useAction(CREATE_PLAN);
  async function send(event: FormEvent): Promise<void> {
    event.preventDefault();
    const made = await run({ query, execute: isExecuting, idempotencyKey: crypto.randomUUID() });
    if (!made) return;
    navigate(requestPath({ requestId: made.createPlan.requestId, version: null, stepId: null, view: null }));
  }
  return (
    <form className="new-request" onSubmit={(event) => void send(event)}>
      <label>
        <span className="hidden">What to do</span>
        <input
          value={query}
          maxLength={10_000}
          placeholder="What to do, in one sentence"
          onChange={({ target }) => onQuery(target.value)}
        />
      </label>
      <Check isOn={isExecuting} onChange={setIsExecuting}>
        execute at once
      </Check>
      <Button kind="primary" type="submit" disabled={isPending || query.trim() === ""}>
        Plan it
      </Button>
      {problem && <ProblemNote problem={problem} />}
    </form>
  );
}

/** Short enough for a page in use, long enough for one that stays open. */
const READ_EVERY_MS = 10_000;
/** The API counts no further. */
const MAX_COUNTED = 10_000;

/** The requests that ended within the last hour, run and wait, in one line; empty before the first answer. */
function WorkloadLine() {
  const { data } = useRegularRead(READ_WORKLOAD, {}, READ_EVERY_MS);
  if (!data) return null;
  const { ended, failed, running, waiting, oldestWaiting } = data.workload;
  return (
    <section className="workload" aria-label="Workload">
      <p>
        <strong>{boundedText(ended, MAX_COUNTED)}</strong> ended in the last hour
        {failed > 0 && (
          <>
            {", "}
            <Link href="/?status=FAILED&status=PARTIAL">{boundedText(failed, MAX_COUNTED)} failed</Link>
          </>
        )}
      </p>
      <p>
        <strong>{boundedText(running, MAX_COUNTED)}</strong> running now
      </p>
      <p>
        <strong>{boundedText(waiting, MAX_COUNTED)}</strong> waiting for a worker
        {oldestWaiting && <Oldest oldest={oldestWaiting} />}
      </p>
    </section>
  );
}

function Oldest({ oldest: { ageMs, requestId } }: { oldest: NonNullable<WorkloadFacts["oldestWaiting"]> }) {
  const text = `the oldest for ${durationText(ageMs)}`;
  if (requestId === null) return `, ${text}`;
  return (
    <>
      {", "}
      <Link href={requestPath({ requestId, version: null, stepId: null, view: null })}>{text}</Link>
    </>
  );
}

/**
 * The filter of a list in the address: `?status=FAILED&text=alice&needs=APPROVAL`. Unreadable parts are
 * ignored.
 */
function filterOf(search: URLSearchParams): RequestFilter {
  const statuses = search
    .getAll("status")
    .filter((status): status is RequestStatus => Object.hasOwn(REQUEST_LOOK, status));
  const needs = NEEDS.find((need) => need === search.get("needs"));
  const named = (name: string) => search.get(name)?.trim() || undefined;
  const filter: RequestFilter = {};
  if (statuses.length > 0) filter.status = statuses;
  if (needs) filter.needs = needs;
  const text = named("text");
  if (text) filter.text = text.slice(0, 200);
  const tag = named("tag");
  if (tag) filter.tag = tag;
  const tool = named("tool");
  if (tool) filter.tool = tool;
  const errorCode = named("errorCode");
  if (errorCode) filter.errorCode = errorCode;
  return filter;
}

/** The address with one part of the filter changed; an empty value removes the part. */
function withPart(search: URLSearchParams, name: string, value: string): string {
  const next = new URLSearchParams(search);
  next.delete(name);
  if (value !== "") next.set(name, value);
  const text = next.toString();
  return text === "" ? "/" : `/?${text}`;
}

/** The parts of a filter that are shown as removable tags. */
const TAGS = ["needs", "tag", "tool", "errorCode"] as const;

/** The controls for the filter and the columns of the list, which are stored in the address. */
function ListBar({
  search,
  onChange,
  onBulk,
  children,
}: {
  search: URLSearchParams;
  /** Sets one part of the address; an empty value removes it. With replace, the step back leaves the page. */
  onChange: (name: string, value: string, options?: { replace: boolean }) => void;
  onBulk: (kind: BulkKind) => void;
  /** Beside the heading. */
  children?: ReactNode;
}) {
  return (
    <div className="filters">
      <div className="filters-head">
        <h2>Requests</h2>
        {children}
      </div>
      <div className="filters-row">
        {TAGS.map((name) =>
          search.get(name) ? (
            <button key={name} type="button" className="tag" onClick={() => onChange(name, "")}>
              {name}: {search.get(name)} <span aria-label="remove">✕</span>
            </button>
          ) : null,
        )}
        <SearchField
          value={search.get("text") ?? ""}
          onSearch={(text) => onChange("text", text, { replace: true })}
        />
        <Choice
          label="status"
          value={search.get("status") ?? ""}
          options={[
            ["", "any status"],
            ...Object.entries(REQUEST_LOOK).map(([name, { word }]) => [name, word] as const),
          ]}
          onChoose={(status) => onChange("status", status)}
        />
        <Choice
          label="time"
          value={timeModeOf(search)}
          options={TIME_MODES.map((mode) => [mode, `${mode} time`] as const)}
          onChoose={(mode) => onChange("time", mode === "relative" ? "" : mode)}
        />
        <ColumnMenu search={search} onChange={(columns) => onChange("columns", columns)} />
        <Check isOn={search.get("live") !== "off"} onChange={(isOn) => onChange("live", isOn ? "" : "off")}>
          live
        </Check>
        <BulkMenu onBulk={onBulk} />
      </div>
    </div>
  );
}

function Choice({
  label,
  value,
  options,
  onChoose,
}: {
  label: string;
  value: string;
  options: readonly (readonly [string, string])[];
  onChoose: (value: string) => void;
}) {
  return (
    <select aria-label={label} value={value} onChange={({ target }) => onChoose(target.value)}>
      {options.map(([name, word]) => (
        <option key={name} value={name}>
          {word}
        </option>
      ))}
    </select>
  );
}

function ColumnMenu({ search, onChange }: { search: URLSearchParams; onChange: (columns: string) => void }) {
  const shown = columnsOf(search);
  const toggle = (name: (typeof shown)[number]) => {
    const wanted = shown.includes(name) ? shown.filter((other) => other !== name) : [...shown, name];
    // An empty value would remove the choice from the address.
    onChange(wanted.length === 0 ? "none" : wanted.join(","));
  };
  return (
    <details className="menu">
      <summary>columns</summary>
      <div className="menu-box">
        {columnNames().map((name) => (
          <label key={name} className="check">
            <input type="checkbox" checked={shown.includes(name)} onChange={() => toggle(name)} />
            {COLUMNS[name].title}
          </label>
        ))}
      </div>
    </details>
  );
}

function BulkMenu({ onBulk }: { onBulk: (kind: BulkKind) => void }) {
  return (
    <details className="menu">
      <summary>all of these …</summary>
      <div className="menu-box">
        {(Object.keys(BULK) as BulkKind[]).map((kind) => (
          <button
            key={kind}
            type="button"
            className="menu-button"
            onClick={({ currentTarget }) => {
              currentTarget.closest("details")?.removeAttribute("open");
              onBulk(kind);
            }}
          >
            {BULK[kind].title} …
          </button>
        ))}
      </div>
    </details>
  );
}

/** Shortest time without a key before the list is read, in milliseconds. */
const TYPED_MS = 250;

/** A request id in any text that was pasted. */
const REQUEST_ID = /req_\d+_[a-z0-9]+/u;

/** Filters the list while a text is typed. A request id opens its page. */
function SearchField({ value, onSearch }: { value: string; onSearch: (text: string) => void }) {
  const [, navigate] = useLocation();
  const [text, setText] = useState(value);
  const sent = useRef(value);
  const field = useRef<HTMLInputElement>(null);
  // Changed by a link or the palette, not by this field.
  if (value !== sent.current) {
    sent.current = value;
    setText(value);
  }
  const search = (typed: string) => {
    const [requestId] = REQUEST_ID.exec(typed) ?? [];
    if (requestId !== undefined)
      return navigate(requestPath({ requestId, version: null, stepId: null, view: null }));
    sent.current = typed.trim();
    onSearch(typed.trim());
  };
  const newest = useRef(search);
  newest.current = search;
  useEffect(() => {
    if (text.trim() === sent.current) return;
    const timer = setTimeout(() => newest.current(text), TYPED_MS);
    return () => clearTimeout(timer);
  }, [text]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "/" || event.defaultPrevented || isInField(event)) return;
      event.preventDefault();
      field.current?.focus();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
  function send(event: FormEvent): void {
    event.preventDefault();
    search(text);
  }
  return (
    <form role="search" onSubmit={send}>
      <label>
        <span className="hidden">Text in the sentence, or a request id</span>
        <input
          ref={field}
          type="search"
          value={text}
          maxLength={200}
          placeholder="Filter by text or id"
          onChange={({ target }) => setText(target.value)}
        />
      </label>
    </form>
  );
}

/** The filter of a list of requests. */
type RequestFilter = NonNullable<VariablesOf<typeof READ_REQUESTS>["filter"]>;

/** Requests on one page. */
const PAGE_SIZE = 50;

/** A list of requests that is kept current. */
interface RequestList {
  /** Null before the first answer. */
  rows: readonly RequestRow[] | null;
  problem: ApiProblem | null;
  /** Reads the next page; null when there is none. */
  readMore: (() => void) | null;
}

/**
 * Follows the requests that match a filter. The list is read when the feed asks for it, which is its first
 * event, and then changed by the events of the feed. While the feed cannot be opened, the list is read at
 * each try.
 * @param isLive - false: the list is not updated
 */
function useRequestList(filter: RequestFilter, isLive: boolean): RequestList {
  const client = useClient();
  const [rows, setRows] = useState<readonly RequestRow[] | null>(null);
  const [cursor, setCursor] = useState<string | null>(null);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const key = JSON.stringify(filter);
  /** The filter with which the rows were read. */
  const readKey = useRef<string | null>(null);
  /** The newest reading from the beginning: the answers to earlier ones are of another list. */
  const newest = useRef(0);
  /** For each reading under way what the feed told since it began: its answer may be older. */
  const told = useRef(new Set<ListChange[]>());

  const read = useCallback(
    async (after: string | null) => {
      if (after === null) newest.current += 1;
      const own = newest.current;
      const since: ListChange[] = [];
      told.current.add(since);
      try {
        const variables = { first: PAGE_SIZE, after, filter: JSON.parse(key) as RequestFilter };
        const { nodes, pageInfo } = (await client.execute(READ_REQUESTS, variables)).requests;
        if (own !== newest.current) return;
        setProblem(null);
        readKey.current = key;
        setRows((before) => since.reduce(withChange, withPage(after === null ? [] : (before ?? []), nodes)));
        setCursor(pageInfo.hasNextPage ? pageInfo.endCursor : null);
      } catch (error) {
        if (own === newest.current) setProblem(problemOf(error));
      } finally {
        told.current.delete(since);
      }
    },
    [client, key],
  );
  function change(one: ListChange): void {
    for (const since of told.current) since.push(one);
    setRows((before) => (before === null && !one.row ? before : withChange(before ?? [], one)));
  }
  const wasLive = useRef(isLive);
  useEffect(() => {
    if (isLive && !wasLive.current) void read(null);
    wasLive.current = isLive;
  }, [isLive, read]);
  useStream(
    FOLLOW_REQUESTS,
    { filter },
    {
      onProblem: (refused) => {
        setProblem(refused);
        if (refused.isTemporary) void read(null);
      },
      onResult: ({ requestsUpdated: { kind, requestId, request } }) => {
        if (!isLive && readKey.current === key) return;
        if (kind === "READ_LIST") void read(null);
        if (kind === "LEFT" && requestId !== null) change({ requestId, row: null });
        if (kind === "CHANGED" && request) change({ requestId: request.requestId, row: request });
      },
    },
  );
  return { rows, problem, readMore: cursor === null ? null : () => void read(cursor) };
}

/** One request as the feed told it; null: it has left the list. */
interface ListChange {
  requestId: string;
  row: RequestRow | null;
}

function withChange(rows: readonly RequestRow[], { requestId, row }: ListChange): readonly RequestRow[] {
  return row ? withRow(rows, row) : rows.filter((one) => one.requestId !== requestId);
}

/** The list with the rows of a page, newest first; a row replaces its older state. */
export function withPage(rows: readonly RequestRow[], page: readonly RequestRow[]): readonly RequestRow[] {
  const ids = new Set(page.map(({ requestId }) => requestId));
  const others = rows.filter(({ requestId }) => !ids.has(requestId));
  return [...others, ...page].toSorted((one, other) =>
    one.createdAt === other.createdAt ? 0 : one.createdAt < other.createdAt ? 1 : -1,
  );
}

/** The list with a row, inserted by its time; it replaces its older state. */
export function withRow(rows: readonly RequestRow[], row: RequestRow): readonly RequestRow[] {
  const others = rows.filter(({ requestId }) => requestId !== row.requestId);
  const index = others.findIndex(({ createdAt }) => createdAt < row.createdAt);
  return index === -1 ? [...others, row] : others.toSpliced(index, 0, row);
}
