import { durationText } from "@planwright/plan";
import "@xyflow/react/dist/style.css";
import {
  Background,
  Controls,
  type Edge,
  Handle,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
} from "@xyflow/react";
import { useMemo } from "react";
import type { StepRow } from "../../data/operations.ts";
import { EFFECT_CLASS } from "../../design/effect-classes.ts";
import { lookOf, STEP_LOOK } from "../../design/statuses.ts";
import { criticalPath } from "./critical-path.ts";
import { NODE_HEIGHT, NODE_WIDTH, shapeOf } from "./shape.ts";
import { useLayout } from "./use-layout.ts";

type StepNode = Node<{ step: StepRow; items: ItemCounts | null; share: number; isSelected: boolean }, "step">;

/** Items of a list, by how they ended. */
interface ItemCounts {
  total: number;
  good: number;
  bad: number;
}

const NODE_TYPES = { step: StepBox };

/** The plan from left to right, with where each step stands; the longest chain of time is drawn thick. */
export function PlanGraph({
  steps,
  selected,
  onSelect,
}: {
  steps: readonly StepRow[];
  selected: string | null;
  onSelect: (stepId: string) => void;
}) {
  const own = useMemo(() => steps.filter(({ item }) => item === null), [steps]);
  const shape = useMemo(() => shapeOf(own), [own]);
  const positions = useLayout(shape);
  const critical = useMemo(() => criticalPath(own), [own]);
  const items = useMemo(() => itemCountsOf(steps), [steps]);
  const longest = Math.max(1, ...own.map(({ durationMs }) => durationMs ?? 0));
  if (positions === null) return <p className="empty">Drawing the plan …</p>;

  const nodes: StepNode[] = own.map((step) => ({
    id: step.id,
    type: "step",
    position: positions[step.id] ?? { x: 0, y: 0 },
    data: {
      step,
      items: items.get(step.id) ?? null,
      share: (step.durationMs ?? 0) / longest,
      isSelected: step.id === selected,
    },
    width: NODE_WIDTH,
    height: NODE_HEIGHT,
  }));
  const edges: Edge[] = shape.edges.map(([source, target]) => {
    const isCritical = critical.has(source) && critical.has(target);
    return {
      id: `${source}>${target}`,
      source,
      target,
      className: isCritical ? "edge-critical" : "",
      focusable: false,
    };
  });
  return (
    <ReactFlow
      nodes={nodes}
      edges={edges}
      nodeTypes={NODE_TYPES}
      nodesDraggable={false}
      nodesConnectable={false}
      nodesFocusable={false}
      edgesFocusable={false}
      fitView
      fitViewOptions={{ maxZoom: 1, padding: 0.15 }}
      minZoom={0.05}
      onNodeClick={(_event, { id }) => onSelect(id)}
      aria-label="Graph of the plan; the tab Steps has the same as a tree"
    >
      <Background gap={24} />
      <Controls showInteractive={false} />
    </ReactFlow>
  );
}

function StepBox({ data: { step, items, share, isSelected } }: NodeProps<StepNode>) {
  const look = lookOf(STEP_LOOK, step.status);
  const isCarried = step.carriedFrom !== null;
  return (
    <div
      className={`step-box tone-${look.tone}${isSelected ? " is-selected" : ""}${isCarried ? " is-carried" : ""}`}
      title={isCarried ? "Carried over from an earlier version" : undefined}
    >
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <span className="step-box-mark" aria-hidden="true">
        {look.mark}
      </span>
      <span className="step-box-name">{step.id}</span>
      <span className="step-box-facts">
        {step.effectClass !== null && <abbr title={EFFECT_CLASS[step.effectClass]}>{step.effectClass}</abbr>}
        {step.attempts.length > 1 && <span title="attempts">×{step.attempts.length}</span>}
        {step.durationMs !== null && <span>{durationText(step.durationMs)}</span>}
      </span>
      <span className="step-box-tool">
        {step.tool}
        {items !== null &&
          ` · ${items.good} of ${items.total} items${items.bad > 0 ? `, ${items.bad} failed` : ""}`}
      </span>
      <span className="step-box-share" style={{ width: `${Math.round(share * 100)}%` }} />
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  );
}

function itemCountsOf(steps: readonly StepRow[]): Map<string, ItemCounts> {
  const counts = new Map<string, ItemCounts>();
  for (const { id, item, status } of steps) {
    if (item === null) continue;
    const count = counts.get(id) ?? { total: 0, good: 0, bad: 0 };
    count.total += 1;
    if (status === "COMPLETED") count.good += 1;
    if (status === "FAILED") count.bad += 1;
    counts.set(id, count);
  }
  return counts;
}
