import { countText, suggestedTools, suggestForServer } from "@planwright/plan";
import { useMemo, useState } from "react";
import { type ContractSuggestions, SUGGEST_CONTRACTS, type ToolFacts } from "../data/catalogue-operations.ts";
import { useAction } from "../data/use-action.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";

/** Calls that wait for a model, each for 20 s: longer than a planner asks it for one server. */
const MAX_WAITS = 12;

/**
 * Suggested contracts of a server's tools, with the reason for each field: those of the rules, and those of a model
 * once the operator has asked it. Nothing is believed: the operator chooses tools and puts their block into the
 * servers file. Nothing for a server without tools.
 */
export function Suggestions({ server, tools }: { server: string; tools: readonly ToolFacts[] }) {
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
