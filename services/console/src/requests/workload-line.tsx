import { boundedText, durationText } from "@planwright/plan";
import { Link } from "wouter";
import { READ_WORKLOAD, type WorkloadFacts } from "../data/catalogue-operations.ts";
import { useRegularRead } from "../data/use-regular-read.ts";
import { requestPath } from "../request/paths.ts";

/** Short enough for a page in use, long enough for one that stays open. */
const READ_EVERY_MS = 10_000;
/** The API counts no further. */
const MAX_COUNTED = 10_000;

/** The requests that ended within the last hour, run and wait, in one line; empty before the first answer. */
export function WorkloadLine() {
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
      <Link href={requestPath({ requestId, version: null, stepId: null, view: "graph" })}>{text}</Link>
    </>
  );
}
