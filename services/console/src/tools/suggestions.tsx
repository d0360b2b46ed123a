import { countText, suggestedTools, suggestForServer } from "@planwright/plan";
import { useMemo, useState } from "react";
import type { ToolFacts } from "../data/catalogue-operations.ts";
import { CopyButton } from "../parts/copy-button.tsx";

/**
 * Suggested contracts of a server's tools, with the reason for each field. Nothing is believed: the operator
 * chooses tools and puts their block into the servers file. Nothing without a suggestion.
 */
export function Suggestions({ server, tools }: { server: string; tools: readonly ToolFacts[] }) {
  const suggestions = useMemo(() => suggestForServer(tools, server), [tools, server]);
  const [accepted, setAccepted] = useState<ReadonlySet<string>>(new Set());
  if (suggestions.length === 0) return null;
  const chosen = suggestions.filter(({ tool }) => accepted.has(tool));
  const toggle = (tool: string) =>
    setAccepted(
      (before) => new Set(before.has(tool) ? [...before].filter((one) => one !== tool) : [...before, tool]),
    );
  return (
    <details className="suggestions">
      <summary>contracts suggested for {countText(suggestions.length, "tool")}</summary>
      <p className="quiet-text">
        Read the reasons and choose what is right. Nothing is believed until it stands in the entry of{" "}
        {server} in the servers file.
      </p>
      <ul>
        {suggestions.map(({ tool, fields }) => (
          <li key={tool}>
            <label>
              <input type="checkbox" checked={accepted.has(tool)} onChange={() => toggle(tool)} />{" "}
              <strong dir="auto">{tool}</strong>
            </label>
            {fields.map(({ field, value, reason }) => (
              <p key={field} dir="auto">
                <code>
                  {field} {JSON.stringify(value)}
                </code>
                : {reason}
              </p>
            ))}
          </li>
        ))}
      </ul>
      {chosen.length > 0 && (
        <>
          <CopyButton
            text={JSON.stringify({ tools: suggestedTools(chosen) }, null, 2)}
            label={`copy the block for ${countText(chosen.length, "tool")}`}
          />
          <pre>{JSON.stringify({ tools: suggestedTools(chosen) }, null, 2)}</pre>
        </>
      )}
    </details>
  );
}
