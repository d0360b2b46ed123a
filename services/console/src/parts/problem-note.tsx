import type { ApiProblem } from "../data/api-problem.ts";

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
