import "./fleet.css";
import { durationText } from "@planwright/plan";
import { Link } from "wouter";
import { useNow } from "../browser/use-now.ts";
import { type FleetFacts, READ_FLEET } from "../data/catalogue-operations.ts";
import { useRegularRead } from "../data/use-regular-read.ts";
import { agoText } from "../design/text.ts";
import { ProblemNote } from "../parts/problem-note.tsx";
import { requestPath } from "../request/paths.ts";
import { type FleetVerdict, verdictOf } from "./verdict.ts";
import { LostWorkers, Workers } from "./workers.tsx";

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
                        view: "graph",
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
