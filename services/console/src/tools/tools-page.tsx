import "./tools.css";
import { useState } from "react";
import { Link, useLocation, useSearch } from "wouter";
import { READ_CATALOGUE, type ToolFacts } from "../data/catalogue-operations.ts";
import { useRegularRead } from "../data/use-regular-read.ts";
import { ProblemNote } from "../parts/problem-note.tsx";
import { toolPath } from "../parts/tool-path.ts";
import { ServerList } from "./server-list.tsx";
import { ToolDetails } from "./tool-details.tsx";

/** A tool changes only when its server is updated, which is rare. */
const READ_EVERY_MS = 15_000;

/** The tools that plans may use, their contracts with reasons, and the servers that offer them. */
export function ToolsPage({ name }: { name: string | null }) {
  const { data, problem } = useRegularRead(READ_CATALOGUE, {}, READ_EVERY_MS);
  const search = new URLSearchParams(useSearch());
  const [, navigate] = useLocation();
  const [text, setText] = useState(search.get("text") ?? "");
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
                        <span className="bad-text">{tool.calls.failures.toLocaleString("en")} failed · </span>
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
              <p className="empty">
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

function matches({ name, title, description, server }: ToolFacts, text: string): boolean {
  const searched = `${name} ${title ?? ""} ${description} ${server}`.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/u)
    .every((word) => searched.includes(word));
}
