import "./requests.css";
import type { ResultOf } from "@planwright/client";
import { boundedText, durationText, type RequestStatus } from "@planwright/plan";
import { type FormEvent, useState } from "react";
import { Link, useLocation, useSearch } from "wouter";
import { useNow } from "../data/browser.ts";
import { READ_WORKLOAD, type WorkloadFacts } from "../data/catalogue-operations.ts";
import { type FailedRequest, READ_FAILURES, READ_NEEDS, READ_NEXT_ACTION } from "../data/list-operations.ts";
import { CREATE_PLAN } from "../data/request-operations.ts";
import { useAction, useRead, useRegularRead } from "../data/use-api.ts";
import { ProblemNote } from "../parts/elements.tsx";
import { agoText, expiryText, REQUEST_LOOK } from "../parts/looks.ts";
import { requestPath } from "../request/paths.ts";
import { FleetLine } from "../system/fleet-line.tsx";
import { BulkDialog, type BulkKind } from "./bulk-dialog.tsx";
import { ListBar } from "./list-bar.tsx";
import { columnsOf, RequestTable, timeModeOf } from "./request-table.tsx";
import { type RequestFilter, useFedRead, useRequestList } from "./use-request-list.ts";

/** The requests that need a person, then all requests, newest first. The filter is stored in the address. */
export function RequestsPage() {
  const search = new URLSearchParams(useSearch());
  const [, navigate] = useLocation();
  const filter = filterOf(search);
  const isFiltered = Object.keys(filter).length > 0;
  const { rows, problem, readMore } = useRequestList(filter, search.get("live") !== "off");
  const [bulk, setBulk] = useState<BulkKind | null>(null);
  return (
    <main className="requests-page">
      <h1 className="hidden">Requests of Planwright</h1>
      <NewRequest />
      {!isFiltered && (
        <>
          <FleetLine />
          <NeedsYou />
          <Failures />
          <WorkloadLine />
        </>
      )}
      <section aria-label="Requests" className="request-list">
        <ListBar
          search={search}
          onChange={(name, value) => navigate(withPart(search, name, value))}
          onBulk={setBulk}
        />
        {problem && <ProblemNote problem={problem} />}
        {rows === null && !problem && <p className="empty">Reading …</p>}
        {rows?.length === 0 && <NoRequests isFiltered={isFiltered} />}
        {rows && rows.length > 0 && (
          <RequestTable
            rows={rows}
            columns={columnsOf(search)}
            time={timeModeOf(search)}
            readMore={readMore}
          />
        )}
        {readMore && (
          <button type="button" className="more" onClick={readMore}>
            Older requests
          </button>
        )}
      </section>
      {bulk && <BulkDialog kind={bulk} filter={filter} onClose={() => setBulk(null)} />}
    </main>
  );
}

function NoRequests({ isFiltered }: { isFiltered: boolean }) {
  return isFiltered ? (
    <p className="empty">
      No request matches. <Link href="/">All requests</Link>
    </p>
  ) : (
    <p className="empty">
      There is no request yet. Write above what to do, or <Link href="/desk">write a plan</Link>.
    </p>
  );
}

/** Sends one sentence and opens the page of the new request. */
function NewRequest() {
  const [, navigate] = useLocation();
  const [query, setQuery] = useState("");
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
          onChange={({ target }) => setQuery(target.value)}
        />
      </label>
      <label className="check">
        <input
          type="checkbox"
          checked={isExecuting}
          onChange={({ target }) => setIsExecuting(target.checked)}
        />{" "}
        execute at once
      </label>
      <button type="submit" className="primary-button" disabled={isPending || query.trim() === ""}>
        Plan it
      </button>
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

const WORDS: Record<(typeof NEEDS)[number], { one: string; many: string; action: string }> = {
  APPROVAL: { one: "waits for an approval", many: "wait for an approval", action: "look and approve" },
  DOUBT: { one: "has a call in doubt", many: "have a call in doubt", action: "say what happened" },
  ANSWER: { one: "asks a question", many: "ask a question", action: "answer" },
};

/** The requests that wait for a decision, each with one next action. */
function NeedsYou() {
  const needs = useNeeds();
  return (
    <section className="needs-you" aria-label="Needs you">
      {NEEDS.map((need) => (
        <Need key={need} need={need} found={needs?.[need]} />
      ))}
    </section>
  );
}

function Need({ need, found }: { need: (typeof NEEDS)[number]; found: Needs[keyof Needs] | undefined }) {
  const { one, many, action } = WORDS[need];
  const count = found?.nodes.length ?? 0;
  return (
    <div className={`need${count > 0 ? " tone-attention" : ""}`}>
      <h2>
        <Link href={`/?needs=${need}`}>
          {count}
          {found?.pageInfo.hasNextPage ? "+" : ""} {count === 1 ? one : many}
        </Link>
      </h2>
      <ul>
        {firstToExpire(found?.nodes ?? []).map(({ requestId, title, plan }) => (
          <li key={requestId}>
            <Link href={requestPath({ requestId, version: null, stepId: null, view: null })}>
              {action}: <span dir="auto">{title}</span>
            </Link>
            {plan && plan.expiresAt !== null && (
              <span className="quiet-text"> {expiryText(plan.expiresAt)}</span>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** In the order of the time that is shown; those whose wait has no end come last. */
export function firstToExpire<Row extends { plan: { expiresAt: string | null } | null }>(
  rows: readonly Row[],
): Row[] {
  const at = ({ plan }: Row) => (plan?.expiresAt ? Date.parse(plan.expiresAt) : Number.MAX_SAFE_INTEGER);
  return rows.toSorted((one, other) => at(one) - at(other));
}

/** The requests that wait for a person, by the kind of decision. */
type Needs = ResultOf<typeof READ_NEEDS>;

/** The requests that wait for a person; null before the first answer. */
function useNeeds(): Needs | null {
  return useFedRead(READ_NEEDS);
}

/** The decisions that a list can be filtered by. */
const NEEDS = ["APPROVAL", "DOUBT", "ANSWER"] as const;

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

/** Most groups that are shown; the list has the others. */
const SHOWN = 4;

/** The failures by error code, each with one next action; empty without failures. */
function Failures() {
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
            href={requestPath({ requestId, version: null, stepId: null, view: null })}
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

/** Requests that failed with the same code. */
interface FailureGroup {
  /** Null: some steps failed and the rest completed. */
  code: string | null;
  count: number;
  /** Number of them with calls that may have acted. */
  mayHaveActed: number;
  newest: FailedRequest;
}

/** Failed requests by their error code, the largest group first, then the newest. */
export function failureGroups(requests: readonly FailedRequest[]): FailureGroup[] {
  const groups = new Map<string | null, FailureGroup>();
  for (const request of requests) {
    const code = request.plan?.error?.code ?? request.error?.code ?? null;
    const acted = request.plan !== null && request.plan.mayHaveActed > 0 ? 1 : 0;
    const group = groups.get(code);
    if (!group) groups.set(code, { code, count: 1, mayHaveActed: acted, newest: request });
    else {
      group.count += 1;
      group.mayHaveActed += acted;
      if (request.updatedAt > group.newest.updatedAt) group.newest = request;
    }
  }
  return [...groups.values()].toSorted(
    (one, other) => other.count - one.count || (one.newest.updatedAt < other.newest.updatedAt ? 1 : -1),
  );
}
