import "./findings.css";
import type { Finding } from "./finding.ts";

/** Diagnostics of a plan. @param props - onShow: leads to the place in the text; absent, the place is text */
export function Findings({
  findings,
  onShow,
}: {
  findings: readonly Finding[];
  onShow?: (finding: Finding) => void;
}) {
  return (
    <ol className="findings">
      {findings.map((finding) => {
        const { code, severity, stepId, path, message, suggestion } = finding;
        const place = path ?? stepId ?? "whole plan";
        return (
          <li
            key={`${code} ${path ?? stepId} ${message}`}
            className={severity === "error" ? "tone-bad" : "tone-attention"}
          >
            {onShow ? (
              <button type="button" className="link-button" onClick={() => onShow(finding)}>
                {place}
              </button>
            ) : (
              <span className="finding-place">{place}</span>
            )}{" "}
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
