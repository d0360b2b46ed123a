import "./fleet.css";
import { durationText, numberText } from "@planwright/plan";
import { Link } from "wouter";
import { useNow, useTitle } from "../data/browser.ts";
import { type FleetFacts, READ_FLEET } from "../data/catalogue-operations.ts";
import { useRegularRead } from "../data/use-api.ts";
import { Card, Panel, Pill, ProblemNote, Table, type TableColumn } from "../parts/elements.tsx";
import { agoText, instantText, WORKER_LOOK } from "../parts/looks.ts";
import { requestPath } from "../request/paths.ts";
import { type FleetVerdict, verdictOf } from "./fleet-line.tsx";

/** The API caches a reading for a second. */
const READ_EVERY_MS = 2_000;

/** The workers that plan and execute, the work that waits for them, and the problem that blocks requests. */
export function FleetPage() {
  const { data, problem, readAt } = useRegularRead(READ_FLEET, {}, READ_EVERY_MS);
  const now = useNow();
  const fleet = data?.fleet;
  useTitle("Fleet");
  return (
    <main className="fleet-page">
      <header className="request-line">
        <h1 className="page-title">Fleet</h1>
        {readAt !== null && (
          <span className="quiet-text">seen {agoText(new Date(readAt).toISOString(), now)}</span>
        )}
      </header>
      {problem && <ProblemNote problem={problem} />}
      {!fleet && !problem && <p className="empty">Reading the fleet …</p>}
      {fleet && (
        <>
          <Verdict verdict={verdictOf(fleet)} />
          <div className="figures">
            <Waiting title="Plans that wait for an executor" waiting={fleet.plans} />
            <Waiting title="Requests that wait for a planner" waiting={fleet.requests} />
          </div>
          <Workers kind="EXECUTOR" workers={fleet.workers} now={now} />
          <Workers kind="PLANNER" workers={fleet.workers} now={now} />
          <LostWorkers workers={fleet.lostWorkers} now={now} />
        </>
      )}
    </main>
  );
}

function Verdict({ verdict }: { verdict: FleetVerdict }) {
  return (
    <Panel tone={verdict.tone} label="State of the fleet">
      <p>
        <strong>{verdict.message}</strong>
      </p>
      {verdict.remedy !== null && <p>{verdict.remedy}</p>}
    </Panel>
  );
}

function Waiting({ title, waiting }: { title: string; waiting: FleetFacts["plans"] }) {
  return (
    <section className="card figure" aria-label={title}>
      <h2>{title}</h2>
      {waiting === null ? (
        <p className="quiet-text">Needs the scope operate.</p>
      ) : (
        <>
          <p className="figure-number">
            {numberText(waiting.due)}
            {waiting.due >= 10_000 && "+"}
          </p>
          <p className="quiet-text">
            {waiting.oldest === null ? (
              "nothing waits"
            ) : (
              <>
                the oldest for {durationText(waiting.oldest.ageMs)}
                {waiting.oldest.requestId !== null && (
                  <>
                    {": "}
                    <Link
                      href={requestPath({
                        requestId: waiting.oldest.requestId,
                        version: null,
                        stepId: null,
                        view: null,
                      })}
                    >
                      show it
                    </Link>
                  </>
                )}
              </>
            )}
          </p>
        </>
      )}
    </section>
  );
}

type Worker = FleetFacts["workers"][number];
type LostWorker = FleetFacts["lostWorkers"][number];

const TITLE: Record<Worker["kind"], string> = { EXECUTOR: "Executors", PLANNER: "Planners" };

/** The workers of one kind that are alive. */
function Workers({ kind, workers, now }: { kind: Worker["kind"]; workers: readonly Worker[]; now: number }) {
  const ofKind = workers.filter((worker) => worker.kind === kind);
  const model: TableColumn<Worker> = {
    title: "model",
    cell: ({ hasModel }) => (hasModel === null ? "" : hasModel ? "yes" : "none: simple sentences only"),
  };
  return (
    <Card title={TITLE[kind]}>
      {ofKind.length === 0 ? (
        <p className="empty">None is alive.</p>
      ) : (
        <Table
          label={TITLE[kind]}
          rows={ofKind}
          keyOf={({ name }) => name}
          columns={[
            { title: "name", cell: ({ name }) => <code>{name}</code> },
            {
              title: "state",
              cell: ({ takesWork }) => <Pill look={takesWork ? WORKER_LOOK.takesWork : WORKER_LOOK.stops} />,
            },
            { title: "holds", isNumber: true, cell: ({ holds }) => holds ?? "hidden" },
            { title: "heartbeat", cell: ({ seenAt }) => <Ago at={seenAt} now={now} /> },
            { title: "started", cell: ({ startedAt }) => <Ago at={startedAt} now={now} /> },
            ...(kind === "PLANNER" ? [model] : []),
          ]}
        />
      )}
    </Card>
  );
}

function Ago({ at, now }: { at: string; now: number }) {
  return (
    <time dateTime={at} title={instantText(at)}>
      {agoText(at, now)}
    </time>
  );
}

/** The workers that died within the last hour; empty if there are none. */
function LostWorkers({ workers, now }: { workers: readonly LostWorker[]; now: number }) {
  if (workers.length === 0) return null;
  return (
    <Card title="Lost within the last hour">
      <Table
        label="Lost within the last hour"
        rows={workers}
        keyOf={({ name }) => name}
        columns={[
          { title: "name", cell: ({ name }) => <code>{name}</code> },
          {
            title: "state",
            cell: ({ deadAt }) => <Pill look={deadAt === null ? WORKER_LOOK.silent : WORKER_LOOK.died} />,
          },
          { title: "leases lost", isNumber: true, cell: ({ leasesLost }) => leasesLost ?? "hidden" },
          { title: "last heartbeat", cell: ({ seenAt }) => <Ago at={seenAt} now={now} /> },
          { title: "kind", cell: ({ kind }) => kind.toLowerCase() },
        ]}
      />
    </Card>
  );
}
