import { durationText } from "@planwright/plan";
import { GAP_WIDTH, type Span, type TimeAxis } from "./axis.ts";
import type { Bar, TimelineRow } from "./bars.ts";
import { hatchOf } from "./legend.tsx";

/** Height of a line, and width of the names before it, in pixels. */
export const ROW_HEIGHT = 26;
export const NAME_WIDTH = 210;

/** Heights of the bars by kind: activity is thick, waits are thin. */
const BAR_HEIGHT: Record<Bar["kind"], number> = { attempt: 14, planning: 14, wait: 8, backoff: 2 };

/** A line of the timeline: the name and the bars of a step. */
export function TimelineLine({
  row: { stepId, name, bars },
  top,
  shown,
  axis,
  width,
  isCritical,
  isSelected,
  onSelect,
}: {
  row: TimelineRow;
  top: number;
  shown: Span;
  axis: TimeAxis;
  width: number;
  isCritical: boolean;
  isSelected: boolean;
  onSelect: (stepId: string) => void;
}) {
  const visible = bars.filter(({ from, to }) => to >= shown.from && from <= shown.to);
  const content = (
    <>
      <span className="timeline-name" dir="auto" title={name}>
        {isCritical && (
          <span className="critical-mark" title="on the critical path">
            <span aria-hidden="true">◆</span>
            <span className="hidden">critical path: </span>
          </span>
        )}
        {name}
      </span>
      <span className="hidden">{bars.map(wordsOf).join(", ")}</span>
      <svg width={width} height={ROW_HEIGHT} aria-hidden="true">
        {axis.gaps.map((gap) => (
          <rect key={gap.from} x={gap.x} width={GAP_WIDTH} y={0} height={ROW_HEIGHT} className="idle-gap" />
        ))}
        {visible.map((bar) => (
          <BarShape key={`${bar.kind} ${bar.from} ${bar.label}`} bar={bar} axis={axis} />
        ))}
      </svg>
    </>
  );
  const classes = `timeline-line${isSelected ? " is-selected" : ""}${isCritical ? " is-critical" : ""}`;
  return (
    <li style={{ position: "absolute", insetInline: 0, transform: `translateY(${top}px)` }}>
      {stepId === null ? (
        <div className={classes}>{content}</div>
      ) : (
        <button
          type="button"
          className={classes}
          aria-current={isSelected ? "true" : undefined}
          onClick={() => onSelect(stepId)}
        >
          {content}
        </button>
      )}
    </li>
  );
}

function BarShape({ bar, axis }: { bar: Bar; axis: TimeAxis }) {
  const x = axis.x(bar.from);
  const width = Math.max(2, axis.x(bar.to) - x);
  const height = BAR_HEIGHT[bar.kind];
  const title = <title>{wordsOf(bar)}</title>;
  const middle = ROW_HEIGHT / 2;
  if (bar.kind === "backoff")
    return (
      <line x1={x} x2={x + width} y1={middle} y2={middle} className="bar-backoff">
        {title}
      </line>
    );
  return (
    <rect
      x={x}
      y={middle - height / 2}
      width={width}
      height={height}
      className={`bar bar-${bar.kind} tone-${bar.tone}`}
      {...(bar.reason !== null && { fill: `url(#${hatchOf(bar.reason).id})` })}
    >
      {title}
    </rect>
  );
}

function wordsOf({ label, from, to }: Bar): string {
  return `${label}, ${durationText(to - from)}`;
}
