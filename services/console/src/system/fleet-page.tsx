import "./fleet.css";
import { durationText } from "@planwright/plan";
import { useId } from "react";
import { Link } from "wouter";
import { useNow } from "../data/browser.ts";
import { type FleetFacts, READ_FLEET } from "../data/catalogue-operations.ts";
import { useRegularRead } from "../data/use-api.ts";
import { Pill, ProblemNote } from "../parts/elements.tsx";
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
    <section className={`next-action tone-${verdict.tone}`} aria-label="State of the fleet">
      <p className="cause">{verdict.message}</p>
      {verdict.remedy !== null && <p className="remedy">{verdict.remedy}</p>}
    </section>
  );
}

function Waiting({ title, waiting }: { title: string; waiting: FleetFacts["plans"] }) {
  return (
    <section className="figure" aria-label={title}>
      <h2>{title}</h2>
      {waiting === null ? (
        <p className="quiet-text">Needs the scope operate.</p>
      ) : (
        <>
          <p className="figure-number">
            {waiting.due.toLocaleString("en")}
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
  const titleId = useId();
  const ofKind = workers.filter((worker) => worker.kind === kind);
  return (
    <section className="pane" aria-labelledby={titleId}>
      <h2 id={titleId}>{TITLE[kind]}</h2>
      {ofKind.length === 0 ? (
        <p className="empty">None is alive.</p>
      ) : (
        <table>
          <thead>
            <tr>
              <th scope="col">name</th>
              <th scope="col">state</th>
              <th scope="col">holds</th>
              <th scope="col">heartbeat</th>
              <th scope="col">started</th>
              {kind === "PLANNER" && <th scope="col">model</th>}
            </tr>
          </thead>
          <tbody>
            {ofKind.map(({ name, takesWork, holds, hasModel, seenAt, startedAt }) => (
              <tr key={name}>
                <th scope="row">
                  <code>{name}</code>
                </th>
                <td>
                  <Pill look={takesWork ? WORKER_LOOK.takesWork : WORKER_LOOK.stops} />
                </td>
                <td>{holds ?? "hidden"}</td>
                <td title={instantText(seenAt)}>{agoText(seenAt, now)}</td>
                <td title={instantText(startedAt)}>{agoText(startedAt, now)}</td>
                {kind === "PLANNER" && (
                  <td>{hasModel === null ? "" : hasModel ? "yes" : "none: simple sentences only"}</td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

/** The workers that died within the last hour; empty if there are none. */
function LostWorkers({ workers, now }: { workers: readonly LostWorker[]; now: number }) {
  const titleId = useId();
  if (workers.length === 0) return null;
  return (
    <section className="pane" aria-labelledby={titleId}>
      <h2 id={titleId}>Lost within the last hour</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">name</th>
            <th scope="col">state</th>
            <th scope="col">leases lost</th>
            <th scope="col">last heartbeat</th>
            <th scope="col">kind</th>
          </tr>
        </thead>
        <tbody>
          {workers.map(({ name, kind, deadAt, seenAt, leasesLost }) => (
            <tr key={name}>
              <th scope="row">
                <code>{name}</code>
              </th>
              <td>
                <Pill look={deadAt === null ? WORKER_LOOK.silent : WORKER_LOOK.died} />
              </td>
              <td>{leasesLost ?? "hidden"}</td>
              <td title={instantText(seenAt)}>{agoText(seenAt, now)}</td>
              <td>{kind.toLowerCase()}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
