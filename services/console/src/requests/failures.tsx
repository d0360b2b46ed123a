import { countText, numberText } from "@planwright/plan";
import { useState } from "react";
import { Link } from "wouter";
import { useNow } from "../data/browser.ts";
import { type FailedRequest, READ_FAILURES, READ_NEXT_ACTION } from "../data/list-operations.ts";
import { useRead } from "../data/use-api.ts";
import { Button, ListRow } from "../parts/elements.tsx";
import { agoText } from "../parts/looks.ts";
import { requestPath } from "../request/paths.ts";
import { sentenceOf } from "../request/share-menu.tsx";
import { BulkDialog, MAX_BULK } from "./bulk-dialog.tsx";
import { HomeCard } from "./home-card.tsx";
import { useFedRead } from "./use-request-list.ts";

/** Most groups that are shown, each with its whole text above the list; the list has the others. */
const SHOWN = 2;

/** The failures by tool and message, each with one next action; empty without failures. */
export function Failures() {
  const failures = useFedRead(READ_FAILURES);
  const [retried, setRetried] = useState<FailureGroup | null>(null);
  const requests = failures?.requests.nodes ?? [];
  const groups = failureGroups(requests);
  const more = groups.length - SHOWN;
  return (
    <>
      <HomeCard
        label="Failures"
        count={requests.length}
        hasMore={failures?.requests.pageInfo.hasNextPage}
        facts={[
          {
            href: "/?status=FAILED&status=PARTIAL",
            count: Math.max(0, more),
            word: more === 1 ? "more cause" : "more causes",
          },
        ]}
        empty={failures === null ? "Reading …" : "No request has failed."}
      >
        {groups.slice(0, SHOWN).map((group) => (
          <Group key={group.key} group={group} onRetry={setRetried} />
        ))}
      </HomeCard>
      {retried && (
        <BulkDialog
          kind="retry"
          subject={{
            requests: retried.requests
              .slice(0, MAX_BULK)
              .map(({ requestId, version }) => ({ requestId, version })),
          }}
          repeats={repeatText(retried)}
          onClose={() => setRetried(null)}
        />
      )}
    </>
  );
}

function Group({ group, onRetry }: { group: FailureGroup; onRetry: (group: FailureGroup) => void }) {
  const now = useNow();
  const { code, tool, message, requests, mayHaveActed, newest } = group;
  const { requestId, title, updatedAt } = newest;
  const next = useRead(READ_NEXT_ACTION, { requestId }).data?.request?.diagnosis.next[0]?.description;
  const list = new URLSearchParams({
    ...(code !== null && { errorCode: code }),
    ...(tool !== null && { tool }),
  });
  return (
    <ListRow
      lead={<span className="failure-count">{numberText(requests.length)}</span>}
      title={
        <Link href={code === null ? "/?status=PARTIAL" : `/?${list}`} title={message}>
          {tool !== null && <code className="failure-tool">{tool}</code>} <span dir="auto">{message}</span>
        </Link>
      }
      note={
        <>
          <span className="failure-facts">
            <Link href={requestPath({ requestId, version: null, stepId: null, view: null })}>
              <span dir="auto">{title}</span>
            </Link>
            <span>{agoText(updatedAt, now)}</span>
            {mayHaveActed > 0 && (
              <span className="tone-attention">{numberText(mayHaveActed)} may have acted</span>
            )}
          </span>
          {next !== undefined && <span dir="auto">{sentenceOf(next)}</span>}
        </>
      }
      action={<Button onClick={() => onRetry(group)}>Run again …</Button>}
    />
  );
}

/** Requests that failed in the same way: the same code, tool and message. */
interface FailureGroup {
  key: string;
  /** Null: some steps failed and the rest completed. */
  code: string | null;
  /** The tool of the first failed step; null when planning failed. */
  tool: string | null;
  /** The message of the newest one. */
  message: string;
  /** The newest first. */
  requests: readonly FailedRequest[];
  /** Number of them with calls that may have acted. */
  mayHaveActed: number;
  newest: FailedRequest;
}

/** Failed requests by their code, tool and message, the largest group first, then the newest. Pure. */
export function failureGroups(requests: readonly FailedRequest[]): FailureGroup[] {
  const groups = new Map<string, FailedRequest[]>();
  for (const request of requests) {
    const key = JSON.stringify([codeOf(request), toolOf(request), normalised(messageOf(request))]);
    groups.set(key, [...(groups.get(key) ?? []), request]);
  }
  return [...groups]
    .map(([key, members]) => toGroup(key, members))
    .toSorted(
      (one, other) =>
        other.requests.length - one.requests.length ||
        (one.newest.updatedAt < other.newest.updatedAt ? 1 : -1),
    );
}

function toGroup(key: string, members: readonly FailedRequest[]): FailureGroup {
  const requests = members.toSorted((one, other) => (one.updatedAt < other.updatedAt ? 1 : -1));
  const [newest] = requests;
  if (!newest) throw new TypeError("A group has at least one request");
  return {
    key,
    code: codeOf(newest),
    tool: toolOf(newest),
    message: messageOf(newest),
    requests,
    mayHaveActed: requests.filter(({ plan }) => plan !== null && plan.mayHaveActed > 0).length,
    newest,
  };
}

const codeOf = ({ plan, error }: FailedRequest) => plan?.error?.code ?? error?.code ?? null;
const toolOf = ({ plan }: FailedRequest) => plan?.stepsConnection.nodes[0]?.tool ?? null;

/** What the tool or the planner said, without the names of the step and of the tool, which stands before it. */
function messageOf(request: FailedRequest): string {
  const { plan, error } = request;
  const message = plan?.error?.message ?? error?.message ?? "partly completed";
  const said = message.replace(/^Step '[^']*' failed: /u, "");
  const named = `${toolOf(request)}: `;
  return said.startsWith(named) ? said.slice(named.length) : said;
}

/**
 * A message without what differs from call to call: ids, numbers, addresses, instants and quoted texts. Two failures
 * with the same rest have the same cause. Pure.
 */
export function normalised(message: string): string {
  return message
    .toLowerCase()
    .replace(/\S+@\S+/gu, "@")
    .replace(/["'“‘`][^"'”’`]{1,80}["'”’`]/gu, "…")
    .replace(/[\p{L}_-]*\d[\p{L}\d_.:-]*/gu, "#")
    .replace(/\s+/gu, " ")
    .trim();
}

/** What running a group again calls once more, and what it does not. Pure. */
export function repeatText({ tool, requests }: Pick<FailureGroup, "tool" | "requests">): string {
  const counts = requests.flatMap(({ plan }) => (plan ? [plan.counts] : []));
  const kept = counts.reduce((sum, { completed }) => sum + completed, 0);
  const rest = counts.reduce((sum, { completed, total }) => sum + total - completed, 0);
  if (counts.length === 0) return "Each sentence is planned again.";
  const first = tool === null ? "" : ` ${tool} is called again in each of them.`;
  const carried =
    kept === 0
      ? ""
      : ` ${countText(kept, "completed step")} ${kept === 1 ? "is" : "are"} carried over and not called again.`;
  return `${countText(rest, "step")} without a result ${rest === 1 ? "runs" : "run"}.${first}${carried}`;
}
