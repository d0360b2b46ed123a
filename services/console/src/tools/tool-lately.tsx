import { countText, durationText, shareText } from "@planwright/plan";
import { Link } from "wouter";
import { useNow } from "../browser/use-now.ts";
import type { ToolFacts } from "../data/catalogue-operations.ts";
import { agoText, instantText } from "../design/text.ts";

/** When a tool was last seen, and how its calls of the last 24 hours ended. */
export function ToolLately({
  tool: { name, server, listedAt, disconnectedSince, calls },
}: {
  tool: ToolFacts;
}) {
  const now = useNow();
  return (
    <section aria-label="Lately" className="lately">
      {disconnectedSince !== null && (
        <p className="note tone-bad">Its server {server} is not connected. Calls wait until it is.</p>
      )}
      <dl className="facts">
        <dt>last seen</dt>
        <dd>
          {disconnectedSince === null ? (
            "now, its server is connected"
          ) : (
            <span title={instantText(disconnectedSince)}>{agoText(disconnectedSince, now)}</span>
          )}
          {listedAt !== null && (
            <span className="quiet-text" title={instantText(listedAt)}>
              {" "}
              · listed {agoText(listedAt, now)}
            </span>
          )}
        </dd>
        <dt>calls</dt>
        {calls.count === 0 ? (
          <dd>none of yours in the last 24 hours</dd>
        ) : (
          <dd>
            {calls.count.toLocaleString("en")} of yours in the last 24 hours
            {calls.lastAt !== null && (
              <span className="quiet-text" title={instantText(calls.lastAt)}>
                {" "}
                · the last {agoText(calls.lastAt, now)}
              </span>
            )}
          </dd>
        )}
        {calls.count > 0 && <Failures name={name} calls={calls} />}
        {calls.p50Ms !== null && calls.p99Ms !== null && (
          <>
            <dt>latency</dt>
            <dd>
              p50 {durationText(calls.p50Ms)} · p99 {durationText(calls.p99Ms)}
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}

function Failures({ name, calls: { count, failures, errors } }: Pick<ToolFacts, "name" | "calls">) {
  if (failures === 0)
    return (
      <>
        <dt>failures</dt>
        <dd>none</dd>
      </>
    );
  const list = new URLSearchParams([
    ["tool", name],
    ["status", "FAILED"],
    ["status", "PARTIAL"],
  ]);
  return (
    <>
      <dt>failures</dt>
      <dd>
        <strong className="bad-text">
          {countText(failures, "call")}, {shareText(failures, count)}
        </strong>
        {errors.map(({ code, count: times }) => (
          <span key={code} className="error-count">
            <code dir="auto">{code}</code> {times.toLocaleString("en")}
          </span>
        ))}
        <Link href={`/?${list}`}>failed requests that use it</Link>
      </dd>
    </>
  );
}
