import "./requests.css";
import { useState } from "react";
import { Link, useLocation, useSearch } from "wouter";
import { FleetLine } from "../fleet/fleet-line.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { BulkDialog } from "./bulk-dialog.tsx";
import type { BulkKind } from "./bulk-kinds.ts";
import { columnsOf, timeModeOf } from "./columns.tsx";
import { Failures } from "./failures.tsx";
import { filterOf, withPart } from "./filter.ts";
import { ListBar } from "./list-bar.tsx";
import { NeedsYou } from "./needs-you.tsx";
import { NewRequest } from "./new-request.tsx";
import { RequestTable } from "./request-table.tsx";
import { useRequestList } from "./use-request-list.ts";
import { WorkloadLine } from "./workload-line.tsx";

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
