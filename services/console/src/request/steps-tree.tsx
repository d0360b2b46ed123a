import { ownTimeText, stateLook } from "@planwright/plan";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef } from "react";
import { type StepRow } from "../data/request-facts.ts";
import { lookOf, STEP_LOOK } from "../design/statuses.ts";
import { StatusBadge } from "../parts/status-badge.tsx";

const ROW_HEIGHT = 34;

/**
 * The steps in plan order, each followed by its items: the content of the graph for the keyboard and for
 * screen readers.
 */
export function StepsTree({
  steps,
  selected,
  onSelect,
}: {
  steps: readonly StepRow[];
  selected: string | null;
  onSelect: (stepId: string) => void;
}) {
  const frame = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: steps.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
  });
  const move = (from: number, by: number) => {
    const next = steps[Math.min(steps.length - 1, Math.max(0, from + by))];
    if (!next) return;
    onSelect(next.id);
    rows.scrollToIndex(steps.indexOf(next));
    requestAnimationFrame(() =>
      frame.current?.querySelector<HTMLElement>(`[data-key="${CSS.escape(next.key)}"]`)?.focus(),
    );
  };
  return (
    <div className="steps-tree" ref={frame} role="treegrid" aria-label="Steps" aria-rowcount={steps.length}>
      <div role="rowgroup" style={{ height: rows.getTotalSize(), position: "relative" }}>
        {rows.getVirtualItems().map(({ index, start }) => {
          const step = steps[index];
          if (!step) return null;
          return (
            <div
              key={step.key}
              data-key={step.key}
              role="row"
              aria-rowindex={index + 1}
              aria-level={step.item === null ? 1 : 2}
              aria-selected={step.id === selected}
              tabIndex={step.id === selected || (selected === null && index === 0) ? 0 : -1}
              className={`step-row${step.item === null ? "" : " is-item"}`}
              style={{ height: ROW_HEIGHT, transform: `translateY(${start}px)` }}
              onClick={() => onSelect(step.id)}
              onKeyDown={(event) => {
                const by = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1 }[event.key];
                if (by !== undefined) {
                  event.preventDefault();
                  move(index, by);
                }
                if (event.key === "Enter") onSelect(step.id);
              }}
            >
              <span role="gridcell" className="step-cell-name">
                {step.key}
              </span>
              <span role="gridcell">
                <StatusBadge look={lookOf(STEP_LOOK, step.status)} />
              </span>
              <span role="gridcell" className="step-cell-tool">
                {step.tool}
              </span>
              <span role="gridcell" className="step-cell-why">
                {step.error?.message ?? (step.waitReason === null ? "" : stateLook("step", step).word)}
              </span>
              <span role="gridcell" className="step-cell-time" title={tookText(step)}>
                {tookText(step)}
              </span>
            </div>
          );
        })}
      </div>
    </div>
  );
}

function tookText({ durationMs, waitedForPeopleMs }: StepRow): string {
  return durationMs === null ? "" : ownTimeText(durationMs, waitedForPeopleMs);
}
