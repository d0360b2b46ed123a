import "./timeline.css";
import type { PlanRun, StepRun } from "@planwright/client";
import { ACTIVE_REQUEST_STATUSES, durationText } from "@planwright/plan";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type CSSProperties, type PointerEvent, useEffect, useMemo, useRef, useState } from "react";
import { useNow, useWidth } from "../data/browser.ts";
import { READ_PLANNING_CALLS, type RequestPage } from "../data/request-operations.ts";
import { useRead } from "../data/use-api.ts";
import { criticalPath, stepsWithTimes } from "../graph/times.ts";
import {
  type Bar,
  createAxis,
  GAP_WIDTH,
  type Span,
  type TimeAxis,
  type TimelineFacts,
  type TimelineRow,
  timelineOf,
} from "./bars.ts";

/** Statuses in which the timeline grows. */
const ACTIVE: ReadonlySet<string> = new Set(ACTIVE_REQUEST_STATUSES);

interface TimelineProps {
  request: RequestPage;
  plan: PlanRun | null;
  /** The moment that is shown, in milliseconds; null: now. */
  atMs: number | null;
  selected: string | null;
  onSelect: (stepId: string) => void;
}

/**
 * The timeline from the sentence to the last call: planning and its model calls on top, then a bar for each
 * attempt; waits are hatched, backoff is dotted, long pauses are folded, and the critical path is marked.
 */
export function Timeline({ request, plan, atMs, selected, onSelect }: TimelineProps) {
  // Bars of running work grow; those of a request that has ended do not.
  const present = useNow(atMs === null && ACTIVE.has(request.status));
  const now = atMs ?? present;
  const wanted = request.source === "query" ? { requestId: request.requestId } : null;
  const { data } = useRead(READ_PLANNING_CALLS, wanted, `${request.planningFinishedAt} ${request.status}`);
  const calls = data?.request?.modelCallsConnection.nodes;
  const facts = useMemo(
    () => timelineOf({ request, plan, calls: calls ?? [], now }),
    [request, plan, calls, now],
  );
  const critical = useMemo(() => criticalKeys(plan?.steps ?? []), [plan]);
  const [zoom, setZoom] = useState<Span | null>(null);
  const shown = zoom ?? facts;
  const { ref, width } = useWidth<HTMLDivElement>();
  const nameWidth = Math.min(NAME_WIDTH, Math.round(width * NAME_SHARE));
  const chartWidth = Math.max(120, width - nameWidth - 12);
  const axis = useMemo(
    () =>
      createAxis(facts.busy, { from: shown.from, to: shown.to }, { width: chartWidth, origin: facts.from }),
    [facts, shown.from, shown.to, chartWidth],
  );
  return (
    <div className="timeline" ref={ref} style={{ "--name-width": `${nameWidth}px` } as CSSProperties}>
      <div className="timeline-bar">
        <Legend rows={facts.rows} hasCritical={critical.size > 0} />
        <ZoomButtons whole={facts} zoom={zoom} onZoom={setZoom} />
      </div>
      <TimeAxisHead axis={axis} width={chartWidth} origin={facts.from} onZoom={setZoom} />
      <Lines
        facts={facts}
        shown={shown}
        axis={axis}
        width={chartWidth}
        critical={critical}
        selected={selected}
        onSelect={onSelect}
      />
    </div>
  );
}

/** The keys of the critical path; for a list also the item that ended last. */
function criticalKeys(steps: readonly StepRun[]): ReadonlySet<string> {
  const keys = new Set(criticalPath(stepsWithTimes(steps)));
  const last = new Map<string, StepRun>();
  for (const step of steps) {
    if (step.item === null || !keys.has(step.id)) continue;
    const known = last.get(step.id);
    if (!known || (step.finishedAt ?? "") > (known.finishedAt ?? "")) last.set(step.id, step);
  }
  for (const { key } of last.values()) keys.add(key);
  return keys;
}

interface LinesProps {
  facts: TimelineFacts;
  shown: Span;
  axis: ReturnType<typeof createAxis>;
  width: number;
  critical: ReadonlySet<string>;
  selected: string | null;
  onSelect: (stepId: string) => void;
}

function Lines({ facts: { rows }, shown, axis, width, critical, selected, onSelect }: LinesProps) {
  const frame = useRef<HTMLDivElement>(null);
  const lines = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 10,
  });
  const isDrawn = width > 0;
  const newest = useRef(rows);
  newest.current = rows;
  // Scrolls to a step that is selected elsewhere.
  useEffect(() => {
    const index = newest.current.findIndex(({ stepId }) => stepId !== null && stepId === selected);
    if (isDrawn && index >= 0) lines.scrollToIndex(index, { align: "auto" });
  }, [selected, isDrawn, lines.scrollToIndex]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys scroll it.
    <section className="timeline-lines" ref={frame} aria-label="Timeline of the request" tabIndex={0}>
      <ul style={{ height: lines.getTotalSize(), position: "relative" }}>
        {lines.getVirtualItems().map(({ index, start }) => {
          const row = rows[index];
          return row ? (
            <TimelineLine
              key={row.key}
              row={row}
              top={start}
              shown={shown}
              axis={axis}
              width={width}
              isCritical={critical.has(row.key)}
              isSelected={row.stepId !== null && row.stepId === selected}
              onSelect={onSelect}
            />
          ) : null;
        })}
      </ul>
    </section>
  );
}

/** The shortest span that can be shown, in milliseconds. */
const MIN_SPAN_MS = 20;

/** A zoom by this factor around the middle, within the whole span; null for the whole span. */
export function zoomed({ from, to }: Span, whole: Span, factor: number): Span | null {
  const half = Math.max(MIN_SPAN_MS, (to - from) * factor) / 2;
  const middle = (from + to) / 2;
  return within({ from: middle - half, to: middle + half }, whole);
}

/** A zoom moved by a part of its length, within the whole span. */
export function moved({ from, to }: Span, whole: Span, part: number): Span | null {
  const by = Math.max(whole.from - from, Math.min(whole.to - to, (to - from) * part));
  return within({ from: from + by, to: to + by }, whole);
}

function within(span: Span, whole: Span): Span | null {
  const from = Math.max(whole.from, span.from);
  const to = Math.min(whole.to, span.to);
  return from <= whole.from && to >= whole.to ? null : { from, to };
}

/** Buttons for the zoom, which a drag over the time labels also sets. */
function ZoomButtons({
  whole,
  zoom,
  onZoom,
}: {
  whole: Span;
  zoom: Span | null;
  onZoom: (zoom: Span | null) => void;
}) {
  const shown = zoom ?? whole;
  const buttons = [
    { label: "Earlier", mark: "←", isOff: zoom === null, press: () => moved(shown, whole, -0.5) },
    { label: "Later", mark: "→", isOff: zoom === null, press: () => moved(shown, whole, 0.5) },
    { label: "Zoom out", mark: "−", isOff: zoom === null, press: () => zoomed(shown, whole, 2) },
    { label: "Zoom in", mark: "+", isOff: false, press: () => zoomed(shown, whole, 0.5) },
  ];
  return (
    <fieldset className="zoom-buttons">
      <legend className="hidden">Part of the time</legend>
      {buttons.map(({ label, mark, isOff, press }) => (
        <button key={label} type="button" title={label} disabled={isOff} onClick={() => onZoom(press())}>
          <span aria-hidden="true">{mark}</span>
          <span className="hidden">{label}</span>
        </button>
      ))}
      <button type="button" disabled={zoom === null} onClick={() => onZoom(null)}>
        Whole time
      </button>
    </fieldset>
  );
}

const HEIGHT = 28;

/** A shorter drag is a click, in pixels. */
const MIN_DRAG = 6;

/** The time labels above the lines. A drag over them zooms to that part. */
function TimeAxisHead({
  axis,
  width,
  origin,
  onZoom,
}: {
  axis: TimeAxis;
  width: number;
  origin: number;
  onZoom: (zoom: Span) => void;
}) {
  const [drag, setDrag] = useState<{ from: number; to: number } | null>(null);
  const xOf = (event: PointerEvent<SVGSVGElement>) =>
    event.clientX - event.currentTarget.getBoundingClientRect().left;
  function end(): void {
    setDrag(null);
    if (!drag || Math.abs(drag.to - drag.from) < MIN_DRAG) return;
    const [from, to] = [drag.from, drag.to].toSorted((a, b) => a - b).map((x) => axis.timeAt(x));
    if (from !== undefined && to !== undefined && to > from) onZoom({ from, to });
  }
  return (
    <div className="timeline-axis">
      <svg
        width={width}
        height={HEIGHT}
        aria-hidden="true"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          setDrag({ from: xOf(event), to: xOf(event) });
        }}
        onPointerMove={(event) => drag && setDrag({ ...drag, to: xOf(event) })}
        onPointerUp={end}
        onPointerCancel={() => setDrag(null)}
      >
        <title>Drag to look at a part</title>
        {axis.ticks.map((at) => (
          <g key={at} transform={`translate(${axis.x(at)} 0)`}>
            <line y1={HEIGHT - 6} y2={HEIGHT} className="tick" />
            <text
              x={axis.x(at) > width - 40 ? -3 : 3}
              y={16}
              textAnchor={axis.x(at) > width - 40 ? "end" : "start"}
            >
              {at === origin ? "0" : `+${durationText(at - origin)}`}
            </text>
          </g>
        ))}
        {axis.gaps.map(({ from, to, x }) => (
          <g key={from}>
            <title>{`${durationText(to - from)} without activity`}</title>
            <rect x={x} width={GAP_WIDTH} height={HEIGHT} className="idle-gap" />
            <text x={x + GAP_WIDTH / 2} y={26} textAnchor="middle" className="gap-text">
              {shortText(to - from)}
            </text>
          </g>
        ))}
        {drag && (
          <rect
            x={Math.min(drag.from, drag.to)}
            width={Math.abs(drag.to - drag.from)}
            height={HEIGHT}
            className="brush"
          />
        )}
      </svg>
    </div>
  );
}

/** The first part of a duration, because there is no space for more. */
function shortText(durationMs: number): string {
  return durationText(durationMs).split(" ").slice(0, 2).join(" ");
}

/** Height of a line, and width of the names before it, in pixels. */
const ROW_HEIGHT = 26;
const NAME_WIDTH = 210;

/** On a narrow screen the names get this share of the width, and the bars the rest. */
const NAME_SHARE = 0.32;

/** Heights of the bars by kind: activity is thick, waits are thin. */
const BAR_HEIGHT: Record<Bar["kind"], number> = { attempt: 14, planning: 14, wait: 8, backoff: 2 };

/** A line of the timeline: the name and the bars of a step. */
function TimelineLine({
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
function hatchOf(reason: string): Hatch {
  return HATCHES[reason] ?? OTHER;
}

/** Explains the bars that occur. It also contains the hatchings that the bars use. */
function Legend({ rows, hasCritical }: { rows: readonly TimelineRow[]; hasCritical: boolean }) {
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
