import "./requests.css";
import { boundedText, durationText, type RequestStatus } from "@planwright/plan";
import { type FormEvent, useState } from "react";
import { Link, useLocation, useSearch } from "wouter";
import { useTitle } from "../data/browser.ts";
import { READ_WORKLOAD, type WorkloadFacts } from "../data/catalogue-operations.ts";
import { CREATE_PLAN } from "../data/request-operations.ts";
import { useAction, useRegularRead } from "../data/use-api.ts";
import { Button, Check, EmptyState, ProblemNote } from "../parts/elements.tsx";
import { NEED_LOOK, REQUEST_LOOK } from "../parts/looks.ts";
import { requestPath } from "../request/paths.ts";
import { FleetLine } from "../system/fleet-line.tsx";
import { BulkDialog, type BulkKind } from "./bulk-dialog.tsx";
import { Failures, FirstRun, NEEDS, NeedsYou } from "./home-cards.tsx";
import { ListBar } from "./list-bar.tsx";
import { columnsOf, RequestTable, timeModeOf } from "./request-table.tsx";
import { type RequestFilter, useRequestList } from "./use-request-list.ts";

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
