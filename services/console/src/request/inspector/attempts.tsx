import { durationText } from "@planwright/plan";
import { type StepRow } from "../../data/request-facts.ts";
import { instantText } from "../../design/text.ts";

/** Each attempt of a step and of its items. */
export function Attempts({ steps }: { steps: readonly StepRow[] }) {
  const attempts = steps.flatMap(({ key, attempts: tries }) => tries.map((attempt) => ({ key, ...attempt })));
  if (attempts.length === 0) return null;
  return (
    <table className="attempts">
      <caption>attempts</caption>
      <thead>
        <tr>
          <th>try</th>
          <th>started</th>
          <th>took</th>
          <th>outcome</th>
          <th>executor</th>
        </tr>
      </thead>
      <tbody>
        {attempts.slice(0, 200).map((attempt) => (
          <tr key={`${attempt.key}/${attempt.attemptId}`}>
            <td>
              {steps.length > 1 && `${attempt.key} `}
              {attempt.attempt}
            </td>
            <td title={attempt.startedAt}>{instantText(attempt.startedAt).slice(11, 19)}</td>
            <td>{attempt.durationMs === null ? "" : durationText(attempt.durationMs)}</td>
            <td>
              {attempt.outcome ?? "running"}
              {attempt.error && (
                <span dir="auto">
                  {" "}
                  {attempt.error.message} <code>{attempt.error.code}</code>
                </span>
              )}
              {attempt.unsent && <span> not sent, {attempt.unsent.tries} tries</span>}
            </td>
            <td className="quiet-text">{attempt.executor}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
