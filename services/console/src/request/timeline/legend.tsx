import type { TimelineRow } from "./bars.ts";

/** A hatching; `angles` are the directions of its lines, in degrees. */
interface Hatch {
  id: string;
  angles: readonly number[];
  isAttention: boolean;
}

const HATCHES: Readonly<Record<string, Hatch>> = {
  dependency: { id: "hatch-dependency", angles: [45], isAttention: false },
  "its turn": { id: "hatch-turn", angles: [0], isAttention: false },
  limit: { id: "hatch-limit", angles: [0, 45], isAttention: false },
  approval: { id: "hatch-approval", angles: [45, 135], isAttention: true },
  "in doubt": { id: "hatch-doubt", angles: [135], isAttention: true },
};
const OTHER: Hatch = { id: "hatch-other", angles: [0, 90], isAttention: false };

/** The hatching of a wait. */
export function hatchOf(reason: string): Hatch {
  return HATCHES[reason] ?? OTHER;
}

/** Explains the bars that occur. It also contains the hatchings that the bars use. */
export function Legend({ rows, hasCritical }: { rows: readonly TimelineRow[]; hasCritical: boolean }) {
  const bars = rows.flatMap((row) => row.bars);
  const reasons = [...new Set(bars.flatMap(({ reason }) => reason ?? []))];
  return (
    <div className="timeline-legend">
      <svg width="0" height="0" aria-hidden="true">
        <defs>
          {[...Object.values(HATCHES), OTHER].map((hatch) => (
            <HatchPattern key={hatch.id} hatch={hatch} />
          ))}
        </defs>
      </svg>
      {reasons.map((reason) => (
        <span key={reason}>
          <svg width="26" height="10" aria-hidden="true">
            <rect width="26" height="10" fill={`url(#${hatchOf(reason).id})`} className="bar-wait" />
          </svg>{" "}
          waits: {reason}
        </span>
      ))}
      {bars.some(({ kind }) => kind === "backoff") && (
        <span>
          <svg width="26" height="10" aria-hidden="true">
            <line x1="0" x2="26" y1="5" y2="5" className="bar-backoff" />
          </svg>{" "}
          backoff
        </span>
      )}
      {hasCritical && (
        <span>
          <span className="critical-mark" aria-hidden="true">
            ◆
          </span>{" "}
          critical path
        </span>
      )}
    </div>
  );
}

function HatchPattern({ hatch: { id, angles, isAttention } }: { hatch: Hatch }) {
  return (
    <pattern id={id} width="6" height="6" patternUnits="userSpaceOnUse">
      {angles.map((angle) => (
        <g key={angle} transform={`rotate(${angle} 3 3)`}>
          <line x1="3" x2="3" y1="-3" y2="9" className={isAttention ? "hatch is-attention" : "hatch"} />
        </g>
      ))}
    </pattern>
  );
}
