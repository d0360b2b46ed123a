import { Handle, type Node, type NodeProps, Position } from "@xyflow/react";
import { STEP_LOOK, type StatusLook } from "../../design/statuses.ts";
import type { FoldKind } from "./fold.ts";

/** Several steps of one kind, drawn as one node. */
export type FoldNode = Node<
  {
    kind: FoldKind;
    members: readonly string[];
    /** True when the selected step is one of them. */
    isSelected: boolean;
    isCritical: boolean;
    onOpen: () => void;
  },
  "fold"
>;

const LOOK: Record<FoldKind, StatusLook> = {
  completed: STEP_LOOK.COMPLETED,
  skipped: STEP_LOOK.SKIPPED,
  pending: STEP_LOOK.PENDING,
  active: STEP_LOOK.RUNNING,
  bad: { ...STEP_LOOK.FAILED, word: "failed or waiting for a decision" },
};

/** A fold: the number and kind of its steps, as a button that opens it. */
export function FoldBox({ data: { kind, members, isSelected, isCritical, onOpen } }: NodeProps<FoldNode>) {
  const { mark, word, tone } = LOOK[kind];
  const classes = ["fold-box", `tone-${tone}`, isSelected && "is-selected", isCritical && "is-critical"];
  return (
    <button
      type="button"
      className={classes.filter(Boolean).join(" ")}
      title="Open these steps"
      onClick={onOpen}
    >
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <span className="fold-box-count">
        <span className="step-box-mark" aria-hidden="true">
          {mark}
        </span>{" "}
        {members.length.toLocaleString("en")} {word}
      </span>
      <span className="fold-box-names">
        {members[0]} … {members.at(-1)}
      </span>
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </button>
  );
}
