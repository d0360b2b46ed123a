import { countText } from "@planwright/plan";
import type { ToolFacts } from "../data/catalogue-operations.ts";
import { JsonTree } from "../parts/json-tree.tsx";
import { ToolLately } from "./tool-lately.tsx";

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
export function ToolDetails({ tool }: { tool: ToolFacts }) {
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
        <p key={problem} className="note tone-attention">
          {problem}
        </p>
      ))}
      <table className="contract">
        <caption>Contract: what is assumed, and why</caption>
        <thead>
          <tr>
            <th scope="col">field</th>
            <th scope="col">value</th>
            <th scope="col">from</th>
            <th scope="col">why</th>
          </tr>
        </thead>
        <tbody>
          {contractReport.fields.map(({ name: field, value, source, why }) => (
            <tr key={field}>
              <th scope="row">{field}</th>
              <td>
                <code>{typeof value === "string" ? value : JSON.stringify(value)}</code>
              </td>
              <td>
                <span className={`source${source === "default" ? "" : " is-stated"}`}>
                  {SOURCE[source] ?? source}
                </span>
              </td>
              <td className="quiet-text">{why === "default" ? "" : why}</td>
            </tr>
          ))}
        </tbody>
      </table>
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
