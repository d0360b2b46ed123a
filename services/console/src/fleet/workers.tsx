import { useId } from "react";
import type { FleetFacts } from "../data/catalogue-operations.ts";
import type { StatusLook } from "../design/statuses.ts";
import { agoText, instantText } from "../design/text.ts";
import { StatusBadge } from "../parts/status-badge.tsx";

type Worker = FleetFacts["workers"][number];
type LostWorker = FleetFacts["lostWorkers"][number];

const TITLE: Record<Worker["kind"], string> = { EXECUTOR: "Executors", PLANNER: "Planners" };

const TAKES: StatusLook = { word: "takes work", mark: "✓", tone: "good" };
const STOPS: StatusLook = { word: "is stopping", mark: "‖", tone: "attention" };
const LOST: StatusLook = { word: "died", mark: "✕", tone: "bad" };
const SILENT: StatusLook = { word: "is silent", mark: "?", tone: "attention" };

/** The workers of one kind that are alive. */
export function Workers({
  kind,
  workers,
  now,
}: {
  kind: Worker["kind"];
  workers: readonly Worker[];
  now: number;
}) {
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
                  <StatusBadge look={takesWork ? TAKES : STOPS} />
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
export function LostWorkers({ workers, now }: { workers: readonly LostWorker[]; now: number }) {
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
                <StatusBadge look={deadAt === null ? SILENT : LOST} />
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
