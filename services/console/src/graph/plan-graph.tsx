import "@xyflow/react/dist/style.css";
import "./graph.css";
import type { StepRun } from "@planwright/client";
import { countText, durationText, ownTimeText, waitWords } from "@planwright/plan";
import {
  Background,
  Controls,
  type Edge,
  type FitViewOptions,
  Handle,
  type Node,
  type NodeProps,
  Panel,
  Position,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
} from "@xyflow/react";
import { useEffect, useMemo, useRef, useState } from "react";
import { EFFECT_CLASS, lookOf, STEP_LOOK, type StatusLook } from "../parts/looks.ts";
import {
  type FoldedNode,
  type FoldKind,
  foldPlan,
  type Histogram,
  histogramsOf,
  LIST_HEIGHT,
  NODE_HEIGHT,
  NODE_WIDTH,
  shapeOf,
} from "./fold.ts";
import { criticalPath, stepsWithTimes } from "./times.ts";
import { type Drawing, useLayout } from "./use-layout.ts";

/** A step of the graph. */
type StepNode = Node<
  {
    step: StepRun;
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
function StepBox({ data: { step, histogram, share, isSelected, isCritical } }: NodeProps<StepNode>) {
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

function subtitleOf({ tool, waitReason, status }: StepRun, histogram: Histogram | null): string {
  if (histogram) return `${tool} · ${countText(histogram.total, "item")}`;
  return status !== "WAITING_APPROVAL" && waitReason !== null
    ? `${tool} · ${waitWords("step", { status, waitReason })}`
    : tool;
}

function titleOf({ status, carriedFrom, error, tool }: StepRun): string {
  const carried = carriedFrom === null ? "" : `, carried over from ${carriedFrom}`;
  return `${lookOf(STEP_LOOK, status).word}${carried}: ${error?.message ?? tool}`;
}

/** The items of a list by status: a bar, and the mark and number of each of its parts. */
function HistogramBar({ histogram: { total, bins } }: { histogram: Histogram }) {
  return (
    <span className="histogram">
      <span className="histogram-bar" aria-hidden="true">
        {bins.map(({ status, count }) => (
          <span
            key={status}
            className={`tone-${lookOf(STEP_LOOK, status).tone} histogram-part is-${status.toLowerCase()}`}
            style={{ flexGrow: count / total }}
          />
        ))}
      </span>
      <span className="histogram-words">
        {bins.map(({ status, count }) => {
          const { mark, tone, word } = lookOf(STEP_LOOK, status);
          return (
            <span key={status} className={`tone-${tone} histogram-bin`} title={`${count} ${word}`}>
              <span aria-hidden="true">{mark}</span> {count}
              <span className="hidden"> {word}</span>
            </span>
          );
        })}
      </span>
    </span>
  );
}

/** Several steps of one kind, drawn as one node. */
type FoldNode = Node<
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
function FoldBox({ data: { kind, members, isSelected, isCritical, onOpen } }: NodeProps<FoldNode>) {
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

const NODE_TYPES = { step: StepBox, fold: FoldBox };

/** With more nodes than this, only visible ones are drawn. */
const MANY_NODES = 60;

interface PlanGraphProps {
  steps: readonly StepRun[];
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

/** A node of the graph. */
type DrawnNode = StepNode | FoldNode;

/** The content of a drawing, without the positions. */
interface DrawnPlan {
  /** The steps of the plan, without the items of lists. */
  steps: readonly StepRun[];
  histograms: ReadonlyMap<string, Histogram>;
  selected: string | null;
  onOpen: (members: readonly string[]) => void;
}

/** The height of a node. */
function heightOf(id: string, histograms: ReadonlyMap<string, Histogram>): number {
  return histograms.has(id) ? LIST_HEIGHT : NODE_HEIGHT;
}

/** The nodes and edges to draw. */
function drawPlan(
  { content, shape, positions }: Drawing<readonly FoldedNode[]>,
  { steps, histograms, selected, onOpen }: DrawnPlan,
): { nodes: DrawnNode[]; edges: Edge[] } {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const heights = new Map(shape.nodes.map(({ id, height }) => [id, height]));
  const critical = criticalPath(steps);
  const longest = Math.max(1, ...steps.map(({ durationMs }) => durationMs ?? 0));
  const criticalNodes = new Set(
    content.filter(({ members }) => members.some((id) => critical.has(id))).map(({ id }) => id),
  );
  const nodes = content.flatMap(({ id, kind, members }): DrawnNode[] => {
    const box = {
      id,
      position: positions[id] ?? { x: 0, y: 0 },
      width: NODE_WIDTH,
      height: heights.get(id) ?? NODE_HEIGHT,
    };
    const isCritical = criticalNodes.has(id);
    if (kind !== null) {
      const isSelected = selected !== null && members.includes(selected);
      const data = { kind, members, isSelected, isCritical, onOpen: () => onOpen(members) };
      return [{ ...box, type: "fold", data }];
    }
    const step = byId.get(id);
    if (!step) return [];
    const share = (step.durationMs ?? 0) / longest;
    const histogram = histograms.get(id) ?? null;
    return [
      { ...box, type: "step", data: { step, histogram, share, isSelected: id === selected, isCritical } },
    ];
  });
  const edges = shape.edges.map(([source, target]) => ({
    id: `${source}>${target}`,
    source,
    target,
    className: criticalNodes.has(source) && criticalNodes.has(target) ? "edge-critical" : "",
    focusable: false,
  }));
  return { nodes, edges };
}

/** The smallest zoom at which the names in the nodes can be read. */
const MIN_ZOOM = 0.55;

/** About the part of the window that the graph fills. */
const FRAME = { width: 0.9, height: 0.5 };

/** The first view: the complete plan if its names can be read, otherwise the most urgent node. */
function firstView(nodes: readonly DrawnNode[], selected: string | null): FitViewOptions<DrawnNode> {
  const right = Math.max(...nodes.map(({ position }) => position.x + NODE_WIDTH));
  const bottom = Math.max(...nodes.map(({ position, height = NODE_HEIGHT }) => position.y + height));
  const fits =
    right * MIN_ZOOM <= window.innerWidth * FRAME.width &&
    bottom * MIN_ZOOM <= window.innerHeight * FRAME.height;
  const focus = fits ? undefined : nodeInFocus(nodes, selected);
  return focus ? { nodes: [{ id: focus.id }], maxZoom: 0.85 } : { maxZoom: 1, padding: 0.12 };
}

function nodeInFocus(nodes: readonly DrawnNode[], selected: string | null): DrawnNode | undefined {
  const chosen = nodes.find(({ data }) => data.isSelected);
  if (selected !== null && chosen) return chosen;
  const withStatus = (status: string) =>
    nodes.find((node) => node.type === "step" && node.data.step.status === status);
  const found = ["FAILED", "IN_DOUBT", "WAITING_APPROVAL", "RETRYING", "RUNNING"].map(withStatus);
  return found.find((node) => node !== undefined) ?? nodes[0];
}
