import { countText, durationText, ownTimeText, waitWords } from "@planwright/plan";
import { Handle, type Node, type NodeProps, Position } from "@xyflow/react";
import { type StepRow } from "../../data/request-facts.ts";
import { EFFECT_CLASS } from "../../design/effect-classes.ts";
import { lookOf, STEP_LOOK } from "../../design/statuses.ts";
import type { Histogram } from "./histogram.ts";
import { HistogramBar } from "./histogram-bar.tsx";

/** A step of the graph. */
export type StepNode = Node<
  {
    step: StepRow;
    /** The histogram of a list; null for other steps. */
    histogram: Histogram | null;
    /** Its duration as a part of the longest step's, from 0 to 1. */
    share: number;
    isSelected: boolean;
    isCritical: boolean;
  },
  "step"
>;

/** A step: its status by mark, border and colour, its duration, and for a list the status of its items. */
export function StepBox({ data: { step, histogram, share, isSelected, isCritical } }: NodeProps<StepNode>) {
  const look = lookOf(STEP_LOOK, step.status);
  const classes = [
    "step-box",
    `tone-${look.tone}`,
    isSelected && "is-selected",
    isCritical && "is-critical",
    step.carriedFrom !== null && "is-carried",
    histogram && "has-histogram",
  ];
  return (
    <div className={classes.filter(Boolean).join(" ")} title={titleOf(step)}>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <span className="step-box-mark" aria-hidden="true">
        {look.mark}
      </span>
      <span className="step-box-name">
        <span className="hidden">{look.word}: </span>
        {step.id}
      </span>
      <span className="step-box-facts">
        {step.approved && (
          <span title="approved" className="step-box-lock">
            <span aria-hidden="true">⚿</span>
            <span className="hidden">approved</span>
          </span>
        )}
        {step.attempts.length > 1 && (
          <span title={countText(step.attempts.length, "attempt")}>×{step.attempts.length}</span>
        )}
        {step.effectClass !== null && <abbr title={EFFECT_CLASS[step.effectClass]}>{step.effectClass}</abbr>}
      </span>
      <span className="step-box-tool">{subtitleOf(step, histogram)}</span>
      {step.durationMs !== null && (
        <span className="step-box-time" title={ownTimeText(step.durationMs, step.waitedForPeopleMs)}>
          {durationText(step.durationMs)}
        </span>
      )}
      {histogram && <HistogramBar histogram={histogram} />}
      <span className="step-box-share" style={{ width: `${Math.round(share * 100)}%` }} />
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  );
}

function subtitleOf({ tool, waitReason, status }: StepRow, histogram: Histogram | null): string {
  if (histogram) return `${tool} · ${countText(histogram.total, "item")}`;
  return status !== "WAITING_APPROVAL" && waitReason !== null
    ? `${tool} · ${waitWords("step", { status, waitReason })}`
    : tool;
}

function titleOf({ status, carriedFrom, error, tool }: StepRow): string {
  const carried = carriedFrom === null ? "" : `, carried over from ${carriedFrom}`;
  return `${lookOf(STEP_LOOK, status).word}${carried}: ${error?.message ?? tool}`;
}
