import type { Finding } from "./finding.ts";

/** Diagnostics of the plan; each leads to its place in the text. */
export function Findings({
  findings,
  onShow,
}: {
  findings: readonly Finding[];
  onShow: (finding: Finding) => void;
}) {
  return (
    <ol className="findings">
      {findings.map((finding) => {
        const { code, severity, stepId, path, message, suggestion } = finding;
        return (
          <li
            key={`${code} ${path ?? stepId} ${message}`}
            className={severity === "error" ? "tone-bad" : "tone-attention"}
          >
            <button type="button" className="link-button" onClick={() => onShow(finding)}>
              {path ?? stepId ?? "whole plan"}
            </button>{" "}
            <code>{code}</code>
            <p dir="auto">{message}</p>
            {suggestion !== null && (
              <p className="quiet-text">
                Suggestion: <code>{suggestion}</code>
              </p>
            )}
          </li>
        );
      })}
    </ol>
  );
}
