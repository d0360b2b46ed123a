import "@xyflow/react/dist/style.css";
import "./graph.css";
import { countText } from "@planwright/plan";
import { Background, Controls, Panel, ReactFlow, ReactFlowProvider, useReactFlow } from "@xyflow/react";
import { useEffect, useMemo, useRef, useState } from "react";
import { type StepRow } from "../../data/request-facts.ts";
import { type DrawnNode, drawPlan, firstView, heightOf, MIN_ZOOM } from "./draw-plan.ts";
import { foldPlan } from "./fold.ts";
import { FoldBox } from "./fold-box.tsx";
import { histogramsOf } from "./histogram.ts";
import { stepsWithTimes } from "./list-times.ts";
import { NODE_WIDTH, shapeOf } from "./shape.ts";
import { StepBox } from "./step-box.tsx";
import { useLayout } from "./use-layout.ts";

const NODE_TYPES = { step: StepBox, fold: FoldBox };

/** With more nodes than this, only visible ones are drawn. */
const MANY_NODES = 60;

interface PlanGraphProps {
  steps: readonly StepRow[];
  selected: string | null;
  onSelect: (stepId: string) => void;
  /** The graph is fitted into its frame whenever it has more nodes. Default false. */
  isGrowing?: boolean;
}

/**
 * The plan from left to right, with the status of each step. The critical path is drawn with thick lines.
 * Large plans are folded.
 */
export function PlanGraph(props: PlanGraphProps) {
  return (
    <ReactFlowProvider>
      <Graph {...props} />
    </ReactFlowProvider>
  );
}

function Graph({ steps, selected, onSelect, isGrowing = false }: PlanGraphProps) {
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const planSteps = useMemo(() => stepsWithTimes(steps), [steps]);
  const histograms = useMemo(() => histogramsOf(steps), [steps]);
  const folded = useMemo(() => foldPlan(planSteps, opened), [planSteps, opened]);
  const shape = useMemo(
    () => shapeOf(folded.map((node) => ({ ...node, height: heightOf(node.id, histograms) }))),
    [folded, histograms],
  );
  const drawing = useLayout(folded, shape);
  const drawn = useMemo(
    () =>
      drawing &&
      drawPlan(drawing, {
        steps: planSteps,
        histograms,
        selected,
        onOpen: (members) => setOpened((before) => new Set([...before, ...members])),
      }),
    [drawing, planSteps, histograms, selected],
  );
  if (!drawn) return <p className="empty">Drawing the plan …</p>;
  const isFolded = drawn.nodes.length < planSteps.length;
  return (
    <ReactFlow<DrawnNode>
      nodes={drawn.nodes}
      edges={drawn.edges}
      nodeTypes={NODE_TYPES}
      nodesDraggable={false}
      nodesConnectable={false}
      nodesFocusable={false}
      edgesFocusable={false}
      onlyRenderVisibleElements={drawn.nodes.length > MANY_NODES}
      fitView
      fitViewOptions={firstView(drawn.nodes, selected)}
      minZoom={0.05}
      onNodeClick={(_event, { id, type }) => type === "step" && onSelect(id)}
      aria-label="Graph of the plan; the tab Steps has the same as a tree"
    >
      <InSight nodes={drawn.nodes} selected={selected} />
      {isGrowing && <FitAgain count={drawn.nodes.length} />}
      <Background gap={24} />
      <Controls showInteractive={false} />
      {(isFolded || opened.size > 0) && (
        <Panel position="top-right" className="fold-panel">
          {countText(planSteps.length, "step")} in {countText(drawn.nodes.length, "node")}
          {opened.size > 0 && (
            <button type="button" onClick={() => setOpened(new Set())}>
              Fold again
            </button>
          )}
        </Panel>
      )}
    </ReactFlow>
  );
}

/** Fits the graph into its frame whenever the number of nodes changes. */
function FitAgain({ count }: { count: number }) {
  const flow = useReactFlow();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new number fits again.
  useEffect(() => void flow.fitView({ maxZoom: 1 }), [flow, count]);
  return null;
}

/** Scrolls to a step that was selected elsewhere. */
function InSight({ nodes, selected }: { nodes: readonly DrawnNode[]; selected: string | null }) {
  const flow = useReactFlow();
  const newest = useRef(nodes);
  newest.current = nodes;
  useEffect(() => {
    const node = newest.current.find(({ data }) => data.isSelected);
    if (selected === null || !node || isInSight(node.id)) return;
    const { x, y } = node.position;
    const zoom = Math.max(flow.getZoom(), MIN_ZOOM);
    void flow.setCenter(x + NODE_WIDTH / 2, y + (node.height ?? 0) / 2, { zoom });
  }, [flow, selected]);
  return null;
}

function isInSight(id: string): boolean {
  const node = document.querySelector(`.react-flow__node[data-id="${CSS.escape(id)}"]`);
  const frame = node?.closest(".react-flow")?.getBoundingClientRect();
  if (!node || !frame) return false;
  const box = node.getBoundingClientRect();
  return (
    box.left >= frame.left && box.right <= frame.right && box.top >= frame.top && box.bottom <= frame.bottom
  );
}
