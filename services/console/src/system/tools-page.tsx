import "./tools.css";
import {
  countText,
  durationText,
  numberText,
  shareText,
  suggestedTools,
  suggestForServer,
} from "@planwright/plan";
import { useMemo, useState } from "react";
import { Link, useLocation, useSearch } from "wouter";
import { useNow, useTitle } from "../data/browser.ts";
import {
  type CatalogueTool,
  type ContractSuggestions,
  READ_CATALOGUE,
  type ServerFacts,
  SUGGEST_CONTRACTS,
} from "../data/catalogue-operations.ts";
import { useAction, useRegularRead } from "../data/use-api.ts";
import { CopyButton, Panel, Pill, ProblemNote, Table } from "../parts/elements.tsx";
import { JsonTree } from "../parts/json-tree.tsx";
import { agoText, instantText, lookOf, SERVER_LOOK } from "../parts/looks.ts";
import { toolPath } from "../parts/paths.ts";

/** A tool changes only when its server is updated, which is rare. */
const READ_EVERY_MS = 15_000;

/** The tools that plans may use, their contracts with reasons, and the servers that offer them. */
export function ToolsPage({ name }: { name: string | null }) {
  const { data, problem } = useRegularRead(READ_CATALOGUE, {}, READ_EVERY_MS);
  const search = new URLSearchParams(useSearch());
  const [, navigate] = useLocation();
  const [text, setText] = useState(search.get("text") ?? "");
  useTitle(name ?? "Tools");
  const tools = data?.getAvailableTools ?? [];
  const shown = tools.filter((tool) => matches(tool, text));
  const chosen = tools.find((tool) => tool.name === name);
  const choose = (next: string) => navigate(`${toolPath(next)}${search.size > 0 ? `?${search}` : ""}`);
  return (
    <main className="tools-page">
      <h1 className="page-title">Tools</h1>
      {problem && <ProblemNote problem={problem} />}
      {!data && !problem && <p className="empty">Reading the catalogue …</p>}
      {data && <ServerList servers={data.toolServers} tools={tools} />}
      {data && tools.length === 0 && <NoTools hasServers={data.toolServers.length > 0} />}
      {tools.length > 0 && (
        <div className="panes has-inspector">
          <section className="pane" aria-label="Catalogue">
            <label className="tool-search">
              <span className="hidden">Text in name or description</span>
              <input
                type="search"
                value={text}
                placeholder="text in name or description"
                onChange={({ target }) => {
                  setText(target.value);
                  navigate(
                    `${toolPath(name)}${target.value === "" ? "" : `?${new URLSearchParams({ text: target.value })}`}`,
                    {
                      replace: true,
                    },
                  );
                }}
              />
            </label>
            <ul className="tool-list">
              {shown.map((tool) => (
                <li key={tool.name}>
                  <button
                    type="button"
                    aria-current={tool.name === name ? "true" : undefined}
                    onClick={() => choose(tool.name)}
                  >
                    <strong>{tool.name}</strong>
                    <span className="quiet-text">
                      {tool.calls.failures > 0 && (
                        <span className="bad-text">{numberText(tool.calls.failures)} failed · </span>
                      )}
                      {tool.disconnectedSince !== null && <span className="bad-text">gone · </span>}
                      {tool.server}
                    </span>
                    <span className="tool-words" dir="auto">
                      {tool.title ?? tool.description}
                    </span>
                  </button>
                </li>
              ))}
            </ul>
            {shown.length === 0 && <p className="empty">No tool matches.</p>}
          </section>
          <section className="pane" aria-label="Tool" tabIndex={0}>
            {chosen ? (
              <ToolDetails tool={chosen} />
            ) : (
              <p className={`empty${name === null ? " tool-choose" : ""}`}>
                {name === null ? "Choose a tool to see its contract." : `There is no tool ${name}.`}
              </p>
            )}
          </section>
        </div>
      )}
    </main>
  );
}

function NoTools({ hasServers }: { hasServers: boolean }) {
  return (
    <p className="empty">
      {hasServers
        ? "No server has offered a tool yet: the list above says why."
        : "There are no tool servers. Add them to the servers file of the executors (MCP_SERVERS_FILE), then restart the executors."}{" "}
      <Link href="/fleet">Executors</Link>
    </p>
  );
}

function matches({ name, title, description, server }: CatalogueTool, text: string): boolean {
  const searched = `${name} ${title ?? ""} ${description} ${server}`.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/u)
    .every((word) => searched.includes(word));
}

/** The sources of a contract's values, for people. */
const SOURCE: Readonly<Record<string, string>> = {
  override: "the operator",
  meta: "the server (_meta)",
  "top-level": "the server",
  inputSchema: "the server (schema)",
  annotations: "the server (hints)",
  default: "default",
};

/** A tool: its recent calls, its arguments and output, and each field of its contract with the reason. */
function ToolDetails({ tool }: { tool: CatalogueTool }) {
  const { name, title, server, category, description, contractReport, observedOutput } = tool;
  return (
    <article className="inspector" aria-label={`Tool ${name}`}>
      <header>
        <h2>{name}</h2>
        <span className="quiet-text">
          {title !== null && `${title} · `}
          {server}
          {category !== server && ` · ${category}`}
        </span>
      </header>
      {description !== "" && (
        <p className="tool-description" dir="auto">
          {description}
        </p>
      )}
      <ToolLately tool={tool} />
      {contractReport.problems.map((problem) => (
        <Panel key={problem} tone="attention">
          {problem}
        </Panel>
      ))}
      <section className="contract" aria-label="Contract">
        <h3>Contract: what is assumed, and why</h3>
        <Table
          label="Contract"
          rows={contractReport.fields}
          keyOf={({ name: field }) => field}
          columns={[
            { title: "field", cell: ({ name: field }) => field },
            {
              title: "value",
              cell: ({ value }) => <code>{typeof value === "string" ? value : JSON.stringify(value)}</code>,
            },
            {
              title: "from",
              cell: ({ source }) => (
                <span className={`source${source === "default" ? "" : " is-stated"}`}>
                  {SOURCE[source] ?? source}
                </span>
              ),
            },
            {
              title: "why",
              cell: ({ why }) => (why === "default" ? null : <span className="quiet-text">{why}</span>),
            },
          ]}
        />
      </section>
      <JsonTree label="Arguments (JSON Schema)" value={tool.inputSchema} />
      {tool.outputSchema !== null && (
        <JsonTree label="Output (JSON Schema), as declared" value={tool.outputSchema} />
      )}
      {observedOutput && (
        <JsonTree
          label={`Output (JSON Schema), as seen in ${countText(observedOutput.outputs, "output")}`}
          value={observedOutput.schema}
        />
      )}
      {tool.annotations !== null && <JsonTree label="Hints of the server" value={tool.annotations} />}
    </article>
  );
}

/** When a tool was last seen, and how its calls of the last 24 hours ended. */
function ToolLately({ tool: { name, server, listedAt, disconnectedSince, calls } }: { tool: CatalogueTool }) {
  const now = useNow();
  return (
    <section aria-label="Lately" className="lately">
      {disconnectedSince !== null && (
        <Panel tone="bad">Its server {server} is not connected. Calls wait until it is.</Panel>
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
            {numberText(calls.count)} of yours in the last 24 hours
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

function Failures({ name, calls: { count, failures, errors } }: Pick<CatalogueTool, "name" | "calls">) {
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
            <code dir="auto">{code}</code> {numberText(times)}
          </span>
        ))}
        <Link href={`/?${list}`}>failed requests that use it</Link>
      </dd>
    </>
  );
}

/** Where a person signs in at a server; plans that wait for it go on by themselves. */
function SignIn({ server, signIn }: { server: string; signIn: NonNullable<ServerFacts["signIn"]> }) {
  const { url, error } = signIn;
  return (
    <>
      {error !== null && (
        <p className="server-error" dir="auto">
          The last sign-in failed: {error}
        </p>
      )}
      {url === null ? (
        <p>A person has to sign in: an operator with the scope admin sees where.</p>
      ) : (
        <p>
          <a className="button primary-button" href={url} target="_blank" rel="noreferrer">
            Sign in at {server}
          </a>
        </p>
      )}
    </>
  );
}

/**
 * The tool servers with the state of their connections, and the tools that they list and plans cannot use; those
 * with problems come first.
 */
function ServerList({
  servers,
  tools: catalogue,
}: {
  servers: readonly ServerFacts[];
  tools: readonly CatalogueTool[];
}) {
  const now = useNow();
  if (servers.length === 0) return null;
  const inOrder = servers.toSorted((one, other) => rankOf(one) - rankOf(other));
  return (
    <section aria-label="Tool servers" className="servers">
      {inOrder.map(
        ({ name, state, tools, leftOut, leftOutCount, error, stderrTail, since, nextAttemptAt, signIn }) => (
          <article key={name} className="card server" aria-label={`Server ${name}`}>
            <p className="server-line">
              <strong>{name}</strong>{" "}
              <Pill look={lookOf(SERVER_LOOK, signIn?.isNeeded ? "SIGN_IN" : state)} />{" "}
              <span className="quiet-text">{countText(tools, "tool")}</span>
            </p>
            <p className="quiet-text" title={instantText(since)}>
              since {agoText(since, now)}
              {nextAttemptAt !== null && `, next try ${untilText(nextAttemptAt, now)}`}
            </p>
            {signIn?.isNeeded && <SignIn server={name} signIn={signIn} />}
            {error !== null && !signIn?.isNeeded && (
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

/** Calls that wait for a model, each for 20 s: longer than a planner asks it for one server. */
const MAX_WAITS = 12;

/**
 * Suggested contracts of a server's tools, with the reason for each field: those of the rules, and those of a model
 * once the operator has asked it. Nothing is believed: the operator chooses tools and puts their block into the
 * servers file. Nothing for a server without tools.
 */
function Suggestions({ server, tools }: { server: string; tools: readonly CatalogueTool[] }) {
  const byRules = useMemo(() => suggestForServer(tools, server), [tools, server]);
  const [asked, setAsked] = useState<ContractSuggestions | null>(null);
  const [accepted, setAccepted] = useState<ReadonlySet<string>>(new Set());
  const { run, isPending, problem } = useAction(SUGGEST_CONTRACTS);
  if (!tools.some((tool) => tool.server === server)) return null;
  const suggestions: ContractSuggestions["tools"] = asked?.tools ?? byRules;
  const chosen = suggestions.filter(({ tool }) => accepted.has(tool));
  const block = JSON.stringify({ tools: suggestedTools(chosen) }, null, 2);
  const toggle = (tool: string) =>
    setAccepted(
      (before) => new Set(before.has(tool) ? [...before].filter((one) => one !== tool) : [...before, tool]),
    );
  async function ask(): Promise<void> {
    for (let waits = 0; waits < MAX_WAITS; waits++) {
      const suggested = (await run({ server }))?.suggestContracts;
      if (suggested) setAsked(suggested);
      if (suggested?.state !== "PENDING") return;
    }
  }
  return (
    <details className="suggestions">
      <summary>contracts suggested for {countText(suggestions.length, "tool")}</summary>
      <p className="quiet-text">
        Read the reasons and choose what is right. Nothing is believed until it stands in the entry of{" "}
        {server} in the servers file.
      </p>
      <p>
        <button type="button" disabled={isPending} onClick={() => void ask()}>
          {isPending ? "asking the model …" : "ask a model too"}
        </button>{" "}
        <span className="quiet-text" role="status" dir="auto">
          {asked?.note}
        </span>
      </p>
      {problem && <ProblemNote problem={problem} />}
      <ul>
        {suggestions.map(({ tool, fields }) => (
          <li key={tool}>
            <label>
              <input
                type="checkbox"
                checked={accepted.has(tool)}
                disabled={fields.every(({ against }) => against !== null)}
                onChange={() => toggle(tool)}
              />{" "}
              <strong dir="auto">{tool}</strong>
            </label>
            {fields.map(({ field, value, reason, source, against }) => (
              <p key={`${source} ${field}`} dir="auto">
                <code>
                  {field} {JSON.stringify(value)}
                </code>
                {source === "model" && ", a model proposes"}: {reason}
                {against !== null && <span className="bad-text"> Not in the block, because {against}.</span>}
              </p>
            ))}
          </li>
        ))}
      </ul>
      {chosen.length > 0 && (
        <>
          <CopyButton text={block} label={`copy the block for ${countText(chosen.length, "tool")}`} />
          <pre>{block}</pre>
        </>
      )}
    </details>
  );
}
