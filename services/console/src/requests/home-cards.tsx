/** What stands above the list of requests: what needs a person, what failed, and the first steps of an empty system. */
import type { Operation } from "@planwright/client";
import {
  beginningOfText,
  countText,
  isExactNumber,
  isJsonObject,
  numberText,
  unmarkNumbers,
  visibleText,
} from "@planwright/plan";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { Link } from "wouter";
import { useIsNarrow, useNow } from "../data/browser.ts";
import { READ_FLEET, READ_OFFER } from "../data/catalogue-operations.ts";
import {
  type FailedRequest,
  FOLLOW_REQUESTS,
  type Needs,
  READ_FAILURES,
  READ_NEEDS,
  READ_NEXT_ACTION,
  READ_WAITING_CALL,
} from "../data/list-operations.ts";
import { useClient, useRead, useRegularRead } from "../data/use-api.ts";
import { useStream } from "../data/use-stream.ts";
import { Button, ListRow, Mark, Pill } from "../parts/elements.tsx";
import { agoText, instantText, inText, NEED_LOOK } from "../parts/looks.ts";
import { deskPath } from "../parts/paths.ts";
import { requestPath } from "../request/paths.ts";
import { sentenceOf } from "../request/share-menu.tsx";
import { BulkDialog, MAX_BULK } from "./bulk-dialog.tsx";

/** The decisions that a list can be filtered by. */
export const NEEDS = ["APPROVAL", "DOUBT", "ANSWER", "SIGN_IN"] as const;

type Need = (typeof NEEDS)[number];
type Needed = Needs[Need]["nodes"][number] & { need: Need };

const ACTION: Record<Need, string> = {
  APPROVAL: "look and approve",
  DOUBT: "say what happened",
  ANSWER: "answer",
  SIGN_IN: "sign in",
};

/** Most rows; the list has the others. */
const SHOWN_NEEDS = 4;

/** The requests that wait for a decision: one line each, the first to end on top. */
export function NeedsYou() {
  const needs = useFedRead(READ_NEEDS);
  const now = useNow();
  const waiting = firstToExpire(
    NEEDS.flatMap((need) => (needs?.[need].nodes ?? []).map((request) => ({ ...request, need }))),
  );
  return (
    <HomeCard
      label="Needs you"
      count={waiting.length}
      hasMore={NEEDS.some((need) => needs?.[need].pageInfo.hasNextPage)}
      facts={NEEDS.map((need) => ({
        href: `/?needs=${need}`,
        count: needs?.[need].nodes.length ?? 0,
        word: NEED_LOOK[need].short,
      }))}
      empty={needs === null ? "Reading …" : "No request waits for a person."}
    >
      {waiting.slice(0, SHOWN_NEEDS).map((request) => (
        <NeedRow key={request.requestId} request={request} now={now} />
      ))}
    </HomeCard>
  );
}

function NeedRow({ request, now }: { request: Needed; now: number }) {
  const { requestId, title, need, updatedAt, plan } = request;
  const call = useRead(READ_WAITING_CALL, need === "ANSWER" || need === "SIGN_IN" ? null : { requestId });
  const [step] = call.data?.request?.plan?.stepsConnection.nodes ?? [];
  const amount = step && amountOf(step.resolvedArguments ?? step.arguments);
  const expiresAt = plan?.expiresAt ?? null;
  const href = requestPath({ requestId, version: null, stepId: null, view: null });
  return (
    <ListRow
      lead={<Pill look={NEED_LOOK[need]} />}
      title={
        <Link href={href} aria-label={`${ACTION[need]}: ${title}`}>
          <span dir="auto">{title}</span>
        </Link>
      }
      facts={
        <>
          {amount !== undefined && <strong className="amount">{amount}</strong>}
          <span title={`waits since ${instantText(updatedAt)}`}>{agoText(updatedAt, now)}</span>
          {expiresAt !== null && (
            <span className="tone-attention" title={`expires at ${instantText(expiresAt)}`}>
              expires {inText(expiresAt, now)}
            </span>
          )}
        </>
      }
    />
  );
}

/** In the order of the time at which the wait ends; those whose wait has no end come last. */
export function firstToExpire<Row extends { plan: { expiresAt: string | null } | null }>(
  rows: readonly Row[],
): Row[] {
  const at = ({ plan }: Row) => (plan?.expiresAt ? Date.parse(plan.expiresAt) : Number.MAX_SAFE_INTEGER);
  return rows.toSorted((one, other) => at(one) - at(other));
}

/** Names of arguments that say how much a call is about. */
const AMOUNT_NAME = /^(?:amount|total|price|sum|cost|fee)(?:[_-]?(?:due|in[_-]?cents|cents|usd|eur))?$/iu;

/** Most characters of an amount that is a text, and of its unit; a longer one has a sign that it is cut. */
const MAX_AMOUNT = 40;
const MAX_UNIT = 12;

const shortText = (value: string, max: number): string =>
  visibleText(beginningOfText(isExactNumber(value) ? unmarkNumbers(JSON.stringify(value)) : value, max));

/**
 * How much a call is about, such as "129.5 EUR", by the names of its arguments; undefined if none says so. Pure.
 */
export function amountOf(given: unknown): string | undefined {
  if (!isJsonObject(given)) return undefined;
  for (const [name, value] of Object.entries(given)) {
    if (!AMOUNT_NAME.test(name) || (typeof value !== "number" && typeof value !== "string")) continue;
    // All digits: a person decides by them.
    const text = typeof value === "number" ? numberText(value, 20) : shortText(value, MAX_AMOUNT);
    const { currency } = given;
    const unit =
      typeof currency === "string" ? shortText(currency, MAX_UNIT) : /cents/iu.test(name) ? "cents" : "";
    return `${text} ${unit}`.trim();
  }
  return undefined;
}

/** Most groups that are shown, each with its whole text above the list; the list has the others. */
const SHOWN_GROUPS = 2;

/** The failures by tool and message, each with one next action; empty without failures. */
export function Failures() {
  const failures = useFedRead(READ_FAILURES);
  const [retried, setRetried] = useState<FailureGroup | null>(null);
  const requests = failures?.requests.nodes ?? [];
  const groups = failureGroups(requests);
  const more = groups.length - SHOWN_GROUPS;
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
        {groups.slice(0, SHOWN_GROUPS).map((group) => (
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

/** Short, because a person who sets the system up waits for the change. */
const READ_EVERY_MS = 5_000;

/** The tools of the demo, and a sentence for them that the offline drafter understands too. */
const DEMO_TOOL = "createAuthor";
const DEMO_SENTENCE = "Create author Alice with email alice@test.com";

/** An empty system: a first sentence, what happens with it, the tools and the model; each with its state. */
export function FirstRun({ onTry }: { onTry: (sentence: string) => void }) {
  const offer = useRegularRead(READ_OFFER, {}, READ_EVERY_MS).data;
  const fleet = useRegularRead(READ_FLEET, {}, READ_EVERY_MS).data?.fleet;
  const tools = offer?.getAvailableTools ?? [];
  const servers = offer?.toolServers ?? [];
  const planners = fleet?.workers.filter(({ kind, takesWork }) => kind === "PLANNER" && takesWork) ?? [];
  const hasModel = planners.some((planner) => planner.hasModel === true);
  const sentence = exampleOf(tools);
  return (
    <section className="card first-run" aria-label="First run">
      <header className="card-head">
        <h2>There is no request yet</h2>
      </header>
      <ol>
        <Stage
          isDone={tools.length > 0}
          title={
            tools.length > 0
              ? `Your tools are connected: ${countText(tools.length, "tool")} of ${countText(servers.length, "server")}`
              : "Connect your tools"
          }
        >
          Plans call tools of MCP servers. Name yours in the servers file of the executors (MCP_SERVERS_FILE).{" "}
          <Link href="/tools">Tools and servers</Link>
        </Stage>
        <Stage
          isDone={hasModel}
          title={
            hasModel
              ? "Model: a planner has one"
              : planners.length > 0
                ? "Model: none is set, so only simple sentences are understood"
                : "No planner takes work, so a sentence would wait"
          }
        >
          Start the planner with MODEL, such as MODEL=openai:gpt-4o, and the key of its provider.{" "}
          <Link href="/fleet">Executors and planners</Link>
        </Stage>
        <Stage isDone={false} title="Try a sentence">
          {sentence === null ? (
            <>
              Write above what to do, or <Link href={deskPath()}>write a plan</Link>.
            </>
          ) : (
            <>
              <Button kind="primary" onClick={() => onTry(sentence)}>
                Try “{sentence}”
              </Button>{" "}
              or <Link href={deskPath()}>write a plan</Link>
            </>
          )}
        </Stage>
        <Stage isDone={false} title="See what happened">
          The page of the request shows its plan as a graph, each call with its arguments and output, and the
          journal of everything that happened.
        </Stage>
      </ol>
    </section>
  );
}

function Stage({ isDone, title, children }: { isDone: boolean; title: string; children: ReactNode }) {
  return (
    <li className={`stage ${isDone ? "tone-good" : "tone-quiet"}`}>
      <span className="stage-mark">
        <Mark mark={isDone ? "✔" : "○"} />
      </span>
      <div>
        <h3>
          {title}
          {isDone && <span className="hidden">: done</span>}
        </h3>
        <p className="quiet-text">{children}</p>
      </div>
    </li>
  );
}

/** A tool as its example needs it. */
interface OfferedTool {
  name: string;
  annotations: unknown;
}

/** A sentence to try with the tools that there are: it only reads, or is that of the demo. Null without such a tool. Pure. */
function exampleOf(tools: readonly OfferedTool[]): string | null {
  if (tools.some(({ name }) => name === DEMO_TOOL)) return DEMO_SENTENCE;
  const reading = tools.find(
    ({ name, annotations }) => isReadOnly(annotations) && /^(?:list|search|find|get)/iu.test(name),
  );
  return reading ? wordsOf(reading.name) : null;
}

function isReadOnly(annotations: unknown): boolean {
  return (
    typeof annotations === "object" &&
    annotations !== null &&
    "readOnlyHint" in annotations &&
    annotations.readOnlyHint === true
  );
}

/** "listInvoices" and "list_invoices" as words: "List invoices". */
function wordsOf(name: string): string {
  const words = name
    .replace(/^.*\//u, "")
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .replace(/[_.-]+/gu, " ")
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A part of a count: a number, its word, and the list of them. */
interface CountedFact {
  href: string;
  count: number;
  word: string;
}

/**
 * A card above the list of requests. On a phone it is one line until it is opened, so that the list begins on the
 * first screen.
 */
function HomeCard({
  label,
  count,
  hasMore,
  facts,
  empty,
  children,
}: {
  label: string;
  count: number;
  /** True: there are more than were counted. */
  hasMore: boolean | undefined;
  facts: readonly CountedFact[];
  /** In place of the rows when there is none. */
  empty: string;
  /** The rows. */
  children: ReactNode;
}) {
  const isNarrow = useIsNarrow();
  const [isOpen, setIsOpen] = useState(false);
  const isShown = !isNarrow || isOpen;
  return (
    <section className={`card home-card${count > 0 ? " is-counted" : ""}`} aria-label={label}>
      <header className="card-head">
        <h2>
          {label}{" "}
          <span className="tab-count">
            {numberText(count)}
            {hasMore && "+"}
          </span>
        </h2>
        <span className="home-facts">
          {count === 0 && <span className="quiet-text">{empty}</span>}
          {facts
            .filter((fact) => fact.count > 0)
            .map((fact) => (
              <Link key={fact.href} href={fact.href}>
                {numberText(fact.count)} {fact.word}
              </Link>
            ))}
          {isNarrow && count > 0 && (
            <Button kind="quiet" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
              {isOpen ? "Hide" : "Show"}
            </Button>
          )}
        </span>
      </header>
      {isShown && count > 0 && <ul className="list-rows">{children}</ul>}
    </section>
  );
}

/** Shortest time between two reads, in milliseconds: many requests may change at once. */
const FED_EVERY_MS = 1_000;

/**
 * The answer to a query about all requests; null before the first. The query is sent again after each event
 * of the feed of all requests. That feed is shared, so this needs no additional connection.
 */
function useFedRead<Result>(operation: Operation<Result, Record<string, never>>): Result | null {
  const client = useClient();
  const [result, setResult] = useState<Result | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const isReadPending = useRef(false);
  useEffect(() => () => clearTimeout(timer.current), []);

  function read(): void {
    if (timer.current !== undefined) {
      isReadPending.current = true;
      return;
    }
    isReadPending.current = false;
    timer.current = setTimeout(() => {
      timer.current = undefined;
      if (isReadPending.current) read();
    }, FED_EVERY_MS);
    client.execute(operation, {}).then(setResult, () => {
      // The list of requests shows the problem; the last answer stays, and the next event reads again.
    });
  }
  useStream(FOLLOW_REQUESTS, { filter: {} }, { onResult: read, onProblem: read });
  return result;
}
