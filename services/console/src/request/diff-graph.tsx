import "@xyflow/react/dist/style.css";
import "../graph/graph.css";
import {
  Background,
  Controls,
  Handle,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  ReactFlowProvider,
} from "@xyflow/react";
import { useMemo } from "react";
import { NODE_HEIGHT, NODE_WIDTH, shapeOf } from "../graph/fold.ts";
import { useLayout } from "../graph/use-layout.ts";
import { CHANGE_LOOK, type StepDiff } from "./diff.ts";

type DiffNode = Node<{ step: StepDiff }, "step">;

const NODE_TYPES = { step: DiffBox };

/** Up to this number all steps are drawn; of more, the changed ones and their dependencies. */
const MAX_NODES = 150;

/** Both versions as one graph. */
export function DiffGraph({
  steps,
  onSelect,
}: {
  steps: readonly StepDiff[];
  onSelect: (id: string) => void;
}) {
  const drawn = useMemo(() => stepsToDraw(steps), [steps]);
  const shape = useMemo(() => shapeOf(drawn.map((step) => ({ ...step, height: NODE_HEIGHT }))), [drawn]);
  const drawing = useLayout(drawn, shape);
  if (!drawing) return <p className="empty">Drawing both versions …</p>;
  const nodes: DiffNode[] = drawing.content.map((step) => ({
    id: step.id,
    type: "step",
    position: drawing.positions[step.id] ?? { x: 0, y: 0 },
    width: NODE_WIDTH,
    height: NODE_HEIGHT,
    data: { step },
  }));
  const removed = new Set(steps.filter(({ change }) => change === "removed").map(({ id }) => id));
  return (
    <ReactFlowProvider>
      <ReactFlow<DiffNode>
        nodes={nodes}
        edges={drawing.shape.edges.map(([source, target]) => ({
          id: `${source}>${target}`,
          source,
          target,
          focusable: false,
          className: removed.has(source) || removed.has(target) ? "edge-removed" : "",
        }))}
        nodeTypes={NODE_TYPES}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        fitView
        fitViewOptions={{ maxZoom: 1, padding: 0.15 }}
        minZoom={0.05}
        onNodeClick={(_event, { id }) => onSelect(id)}
        aria-label="Graph of both versions; the list below has the same"
      >
        <Background gap={24} />
        <Controls showInteractive={false} />
      </ReactFlow>
    </ReactFlowProvider>
  );
}

function DiffBox({ data: { step } }: NodeProps<DiffNode>) {
  const { sign, word, tone } = CHANGE_LOOK[step.change];
  return (
    <div className={`diff-box is-${step.change} tone-${tone}`}>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <span className="diff-sign" aria-hidden="true">
        {sign}
      </span>
      <span className="step-box-name">{step.id}</span>
      <span className="diff-word">{word}</span>
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  );
}

function stepsToDraw(steps: readonly StepDiff[]): readonly StepDiff[] {
  if (steps.length <= MAX_NODES) return steps;
  const isChanged = ({ change }: StepDiff) => change !== "carried" && change !== "same";
  const changed = steps.filter(isChanged).slice(0, MAX_NODES);
  const wanted = new Set(changed.flatMap(({ id, dependsOn }) => [id, ...dependsOn]));
  return steps.filter(({ id }) => wanted.has(id)).slice(0, MAX_NODES);
}
