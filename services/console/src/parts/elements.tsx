import { useState } from "react";
import type { ApiProblem } from "../data/use-api.ts";
import type { StatusLook } from "./looks.ts";

/** An error with what to do about it. */
export function ProblemNote({ problem }: { problem: ApiProblem }) {
  return (
    <div className="note tone-bad" role="alert">
      <strong>{problem.message}</strong> <code>{problem.code}</code>
      {problem.remedy !== null && <p>{problem.remedy}</p>}
      {problem.accept && (
        <button type="button" onClick={problem.accept}>
          Call {problem.repeats?.join(", ")} once more, and go on
        </button>
      )}
    </div>
  );
}

/** Copies a text and confirms it. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [isCopied, setIsCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setIsCopied(true);
    setTimeout(() => setIsCopied(false), 1_500);
  };
  return (
    <button type="button" className="quiet-button" onClick={() => void copy()}>
      {isCopied ? "copied" : label}
    </button>
  );
}

/** A status with its mark, word and colour. */
export function StatusBadge({ look }: { look: StatusLook }) {
  return (
    <span className={`badge tone-${look.tone}`}>
      <span aria-hidden="true">{look.mark}</span> {look.word}
    </span>
  );
}
