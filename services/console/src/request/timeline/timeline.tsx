import "./timeline.css";
import { ACTIVE_REQUEST_STATUSES } from "@planwright/plan";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef, useState } from "react";
import { useNow } from "../../browser/use-now.ts";
import { useWidth } from "../../browser/use-width.ts";
import { READ_PLANNING_CALLS } from "../../data/planning-calls.ts";
import { type RequestFacts, type StepRow } from "../../data/request-facts.ts";
import type { ShownPlan } from "../../data/shown-plan.ts";
import { useRead } from "../../data/use-read.ts";
import { criticalPath } from "../graph/critical-path.ts";
import { stepsWithTimes } from "../graph/list-times.ts";
import { createAxis, type Span } from "./axis.ts";
import { type TimelineFacts, timelineOf } from "./bars.ts";
import { Legend } from "./legend.tsx";
import { TimeAxisHead } from "./time-axis-head.tsx";
import { NAME_WIDTH, ROW_HEIGHT, TimelineLine } from "./timeline-line.tsx";
import { ZoomButtons } from "./zoom-buttons.tsx";

/** Statuses in which the timeline grows. */
const ACTIVE: ReadonlySet<string> = new Set(ACTIVE_REQUEST_STATUSES);

interface TimelineProps {
  request: RequestFacts;
  plan: ShownPlan | null;
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
  const chartWidth = Math.max(120, width - NAME_WIDTH - 12);
  const axis = useMemo(
    () =>
      createAxis(facts.busy, { from: shown.from, to: shown.to }, { width: chartWidth, origin: facts.from }),
    [facts, shown.from, shown.to, chartWidth],
  );
  return (
    <div className="timeline" ref={ref}>
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
function criticalKeys(steps: readonly StepRow[]): ReadonlySet<string> {
  const keys = new Set(criticalPath(stepsWithTimes(steps)));
  const last = new Map<string, StepRow>();
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
