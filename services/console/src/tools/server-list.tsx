import { countText } from "@planwright/plan";
import { useNow } from "../browser/use-now.ts";
import type { ServerFacts, ToolFacts } from "../data/catalogue-operations.ts";
import { lookOf, type StatusLook } from "../design/statuses.ts";
import { agoText, instantText } from "../design/text.ts";
import { StatusBadge } from "../parts/status-badge.tsx";
import { Suggestions } from "./suggestions.tsx";

const SERVER_LOOK: Record<ServerFacts["state"], StatusLook> = {
  CONNECTED: { word: "connected", mark: "✓", tone: "good" },
  CONNECTING: { word: "connecting", mark: "…", tone: "active" },
  UNREACHABLE: { word: "unreachable", mark: "✕", tone: "bad" },
};

/**
 * The tool servers with the state of their connections, and the tools that they list and plans cannot use; those
 * with problems come first.
 */
export function ServerList({
  servers,
  tools: catalogue,
}: {
  servers: readonly ServerFacts[];
  tools: readonly ToolFacts[];
}) {
  const now = useNow();
  if (servers.length === 0) return null;
  const inOrder = servers.toSorted((one, other) => rankOf(one) - rankOf(other));
  return (
    <section aria-label="Tool servers" className="servers">
      {inOrder.map(
        ({ name, state, tools, leftOut, leftOutCount, error, stderrTail, since, nextAttemptAt }) => (
          <article key={name} className="server" aria-label={`Server ${name}`}>
            <p className="server-line">
              <strong>{name}</strong> <StatusBadge look={lookOf(SERVER_LOOK, state)} />{" "}
              <span className="quiet-text">{countText(tools, "tool")}</span>
            </p>
            <p className="quiet-text" title={instantText(since)}>
              since {agoText(since, now)}
              {nextAttemptAt !== null && `, next try ${untilText(nextAttemptAt, now)}`}
            </p>
            {error !== null && (
              <p className="server-error" dir="auto">
                {error}
              </p>
            )}
            {leftOutCount > 0 && (
              <details open={state === "CONNECTED"}>
                <summary>{countText(leftOutCount, "listed tool")} that plans cannot use</summary>
                <ul className="left-out">
                  {leftOut.map(({ tool, reason }, position) => (
                    // The list of a server may name a tool twice, or not at all.
                    <li key={position} dir="auto">
                      <strong>{tool ?? "no name"}</strong>: {reason}
                    </li>
                  ))}
                </ul>
                {leftOutCount > leftOut.length && (
                  <p className="quiet-text">and {countText(leftOutCount - leftOut.length, "other")}</p>
                )}
              </details>
            )}
            <Suggestions server={name} tools={catalogue} />
            {stderrTail !== null && (
              <details open>
                <summary>last lines of its process</summary>
                <pre dir="auto">{stderrTail}</pre>
              </details>
            )}
          </article>
        ),
      )}
    </section>
  );
}

function rankOf({ state }: ServerFacts): number {
  return ["UNREACHABLE", "CONNECTING", "CONNECTED"].indexOf(state);
}

function untilText(at: string, now: number): string {
  const seconds = Math.round((Date.parse(at) - now) / 1_000);
  return seconds <= 0 ? "now" : `in ${seconds} s`;
}
