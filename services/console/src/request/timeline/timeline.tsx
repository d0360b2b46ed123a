import { ACTIVE_REQUEST_STATUSES, durationText } from "@planwright/plan";
import { useMemo } from "react";
import { useNow } from "../../browser/use-now.ts";
import type { RequestFacts } from "../../data/operations.ts";
import type { ShownPlan } from "../../data/shown-plan.ts";
import { criticalPath } from "../graph/critical-path.ts";
import { timelineOf } from "./bars.ts";

const ROW_HEIGHT = 26;
const NAME_WIDTH = 220;
const AXIS_HEIGHT = 24;
const WIDTH = 1_000;

/** Statuses in which time passes on the axis. */
const ACTIVE: ReadonlySet<string> = new Set(ACTIVE_REQUEST_STATUSES);

/** From the sentence to the last call on one axis: a bar for each attempt, waits hatched, backoff dotted, the critical path marked. */
export function Timeline({
  request,
  plan,
  atMs,
  selected,
  onSelect,
}: {
  request: RequestFacts;
  plan: ShownPlan | null;
  /** The moment that is shown, in milliseconds; null: now. */
  atMs: number | null;
  selected: string | null;
  onSelect: (stepId: string) => void;
}) {
  // Bars of what is under way grow; those of a request that has ended do not.
  const present = useNow(atMs === null && ACTIVE.has(request.status));
  const now = atMs ?? present;
  const { rows, from, to } = useMemo(() => timelineOf(request, plan, now), [request, plan, now]);
  const critical = useMemo(
    () => criticalPath((plan?.steps ?? []).filter(({ item }) => item === null)),
    [plan],
  );
  const x = (at: number) => NAME_WIDTH + ((at - from) / (to - from)) * (WIDTH - NAME_WIDTH - 8);
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((part) => ({ at: from + part * (to - from), part }));
  const height = AXIS_HEIGHT + rows.length * ROW_HEIGHT;
  return (
    <svg
      className="timeline"
      viewBox={`0 0 ${WIDTH} ${height}`}
      role="group"
      aria-label="Timeline of the request"
    >
      <defs>
        <pattern
          id="hatched"
          width="6"
          height="6"
          patternUnits="userSpaceOnUse"
          patternTransform="rotate(45)"
        >
          <line x1="0" y1="0" x2="0" y2="6" className="hatch" />
        </pattern>
      </defs>
      {ticks.map(({ at, part }) => (
        <g key={part}>
          <line x1={x(at)} x2={x(at)} y1={AXIS_HEIGHT} y2={height} className="tick" />
          <text
            x={x(at)}
            y={15}
            textAnchor={part === 0 ? "start" : part === 1 ? "end" : "middle"}
            className="tick-text"
          >
            {part === 0 ? "0" : `+${durationText(at - from)}`}
          </text>
        </g>
      ))}
      {rows.map(({ key, stepId, name, bars }, index) => {
        const y = AXIS_HEIGHT + index * ROW_HEIGHT;
        const isSelected = stepId !== null && stepId === selected;
        return (
          // biome-ignore lint/a11y/useSemanticElements: an SVG has no button.
          <g
            key={key}
            className={`timeline-row${isSelected ? " is-selected" : ""}`}
            onClick={() => stepId !== null && onSelect(stepId)}
            onKeyDown={({ key: pressed }) => pressed === "Enter" && stepId !== null && onSelect(stepId)}
            tabIndex={stepId === null ? undefined : 0}
            role={stepId === null ? undefined : "button"}
            aria-label={
              stepId === null ? undefined : `Step ${name}: ${bars.map(({ label }) => label).join(", ")}`
            }
          >
            <rect x="0" y={y} width={WIDTH} height={ROW_HEIGHT} className="timeline-ground" />
            <text
              x="8"
              y={y + 17}
              className={critical.has(stepId ?? "") ? "row-name is-critical" : "row-name"}
            >
              {name.length > 30 ? `${name.slice(0, 29)}…` : name}
            </text>
            {bars.map((bar) => (
              <rect
                key={`${bar.kind}${bar.from}`}
                x={x(bar.from)}
                y={bar.kind === "attempt" || bar.kind === "planning" ? y + 6 : y + 11}
                width={Math.max(2, x(bar.to) - x(bar.from))}
                height={bar.kind === "attempt" || bar.kind === "planning" ? ROW_HEIGHT - 12 : 4}
                className={`bar bar-${bar.kind} tone-${bar.tone}`}
              >
                <title>{`${name}, ${bar.label}, ${durationText(bar.to - bar.from)}`}</title>
              </rect>
            ))}
          </g>
        );
      })}
    </svg>
  );
}
