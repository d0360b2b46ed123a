import "./diagnostics.css";

/**
 * The diagnostics of a plan.
 * @param props - onShow: moves the cursor to the location; without it, the location is text. applyOf: what a click on
 * a suggestion does; undefined for one that a person has to write
 */
export function Diagnostics({
  diagnostics,
  onShow,
  applyOf = () => undefined,
}: {
  diagnostics: readonly ShownDiagnostic[];
  onShow?: (diagnostic: ShownDiagnostic) => void;
  applyOf?: (diagnostic: ShownDiagnostic) => (() => void) | undefined;
}) {
  return (
    <ol className="diagnostics">
      {diagnostics.map((diagnostic) => {
        const { code, severity, stepId, path, message, suggestion } = diagnostic;
        const location = path ?? stepId ?? "the plan";
        const apply = suggestion === null ? undefined : applyOf(diagnostic);
        return (
          <li
            key={`${code} ${path ?? stepId} ${message}`}
            className={severity === "error" ? "tone-bad" : "tone-attention"}
          >
            {onShow ? (
              <button type="button" className="link-button" onClick={() => onShow(diagnostic)}>
                {location}
              </button>
            ) : (
              <span className="diagnostic-location">{location}</span>
            )}{" "}
            <code>{code}</code>
            <p dir="auto">{message}</p>
            {suggestion !== null && (
              <p className="quiet-text">
                Suggestion: <code>{suggestion}</code>{" "}
                {apply && (
                  <button type="button" onClick={apply}>
                    Write {suggestion}
                  </button>
                )}
              </p>
            )}
          </li>
        );
      })}
    </ol>
  );
}

/** One diagnostic of a plan, as the API returns it. */
export interface ShownDiagnostic {
  code: string;
  severity: "error" | "warning";
  stepId: string | null;
  /** Path in the document, such as `steps[2].arguments.authorId`. */
  path: string | null;
  message: string;
  suggestion: string | null;
}
