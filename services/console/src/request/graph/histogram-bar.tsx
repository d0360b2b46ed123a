import { lookOf, STEP_LOOK } from "../../design/statuses.ts";
import type { Histogram } from "./histogram.ts";

/** The items of a list by status: a bar, and the mark and number of each of its parts. */
export function HistogramBar({ histogram: { total, bins } }: { histogram: Histogram }) {
  return (
    <span className="histogram">
      <span className="histogram-bar" aria-hidden="true">
        {bins.map(({ status, count }) => (
          <span
            key={status}
            className={`tone-${lookOf(STEP_LOOK, status).tone} histogram-part is-${status.toLowerCase()}`}
            style={{ flexGrow: count / total }}
          />
        ))}
      </span>
      <span className="histogram-words">
        {bins.map(({ status, count }) => {
          const { mark, tone, word } = lookOf(STEP_LOOK, status);
          return (
            <span key={status} className={`tone-${tone} histogram-bin`} title={`${count} ${word}`}>
              <span aria-hidden="true">{mark}</span> {count}
              <span className="hidden"> {word}</span>
            </span>
          );
        })}
      </span>
    </span>
  );
}
