import "@xyflow/react/dist/style.css";
import "./graph.css";
import { EFFECT_CLASSES, effectClassOfStep, type StepRun } from "@planwright/client";
import {
  calledIn,
  countText,
  durationText,
  isCarried,
  numberText,
  ownTimeText,
  visibleText,
  waitWords,
} from "@planwright/plan";
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
  useStore,
} from "@xyflow/react";
import { type CSSProperties, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { lookOf, STEP_LOOK, type StatusLook } from "../parts/looks.ts";
import {
  type FoldedNode,
  type FoldKind,
  foldPlan,
  type Histogram,
  histogramsOf,
  lookOfStep,
  NODE_HEIGHT,
  NODE_WIDTH,
  shapeOf,
  TALL_HEIGHT,
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
    /** The step to look at first: it failed, waits for a person, or runs. */
    isUrgent: boolean;
  },
  "step"
>;

/** A step: its status by mark, border and colour, its duration, and for a list the status of its items. */
function StepBox({
  data: { step, histogram, share, isSelected, isCritical, isUrgent },
}: NodeProps<StepNode>) {
  const look = lookOfStep(step, histogram);
  const error = histogram ? null : errorOf(step);
  const repeats = effectClassOfStep(step);
  const classes = [
    "step-box",
    `tone-${look.tone}`,
    isSelected && "is-selected",
    isCritical && "is-critical",
    isCarried(step) && "is-carried",
    isUrgent && "is-urgent",
    (histogram || error) && "is-tall",
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
        {repeats && <abbr title={repeats.text}>{repeats.letter}</abbr>}
      </span>
      <span className="step-box-tool">{subtitleOf(step, histogram)}</span>
      {step.durationMs !== null && (
        <span className="step-box-time" title={ownTimeText(step.durationMs, step.waitedForPeopleMs)}>
          {durationText(step.durationMs)}
        </span>
      )}
      {histogram && <HistogramBar histogram={histogram} />}
      {error !== null && (
        <span className="step-box-error" dir="auto">
          {visibleText(error)}
        </span>
      )}
      <span className="step-box-share" style={{ width: `${Math.round(share * 100)}%` }} />
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  );
}

/** The error that a node shows: that of a step that failed or is in doubt. */
function errorOf({ status, error }: StepRun): string | null {
  return (status === "FAILED" || status === "IN_DOUBT") && error ? error.message.slice(0, 200) : null;
}

function subtitleOf({ tool, waitReason, status }: StepRun, histogram: Histogram | null): string {
  if (histogram) return `${tool} · ${countText(histogram.total, "item")}`;
  return status !== "WAITING_APPROVAL" && status !== "IN_DOUBT" && waitReason !== null
    ? `${tool} · ${waitWords("step", { status, waitReason })}`
    : tool;
}

function titleOf(step: StepRun): string {
  const { status, error, tool } = step;
  const carried = isCarried(step) ? `, carried over from ${calledIn(null, step)}` : "";
  return visibleText(`${lookOf(STEP_LOOK, status).word}${carried}: ${error?.message ?? tool}`);
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
            <span
              key={status}
              className={`tone-${tone} histogram-bin`}
              title={`${numberText(count)} ${word}`}
            >
              <span aria-hidden="true">{mark}</span> {numberText(count)}
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
        {numberText(members.length)} {word}
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
  /** Drawn below a graph that needs only a part of the height. */
  below?: ReactNode;
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

function Graph({ steps, selected, onSelect, below = null }: PlanGraphProps) {
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const { ref, size } = useSize();
  const zoom = useStore(({ transform: [, , scale] }) => Math.round(scale * 50) / 50);
  const planSteps = useMemo(() => stepsWithTimes(steps), [steps]);
  const histograms = useMemo(() => histogramsOf(steps), [steps]);
  const folded = useMemo(() => foldPlan(planSteps, opened), [planSteps, opened]);
  const shape = useMemo(() => {
    const tall = new Set(planSteps.flatMap((step) => (errorOf(step) === null ? [] : [step.id])));
    const heightOf = (id: string) => (histograms.has(id) || tall.has(id) ? TALL_HEIGHT : NODE_HEIGHT);
    return shapeOf(folded.map((node) => ({ ...node, height: heightOf(node.id) })));
  }, [folded, planSteps, histograms]);
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
  const isFolded = drawn !== null && drawn.nodes.length < planSteps.length;
  const frame = drawn && size ? frameOf(drawn.nodes, size, below !== null) : null;
  return (
    <div className="graph" ref={ref}>
      {!drawn || !frame ? (
        <p className="empty">Drawing the plan …</p>
      ) : (
        <div className="graph-frame" style={{ height: frame.height, "--zoom": zoom } as CSSProperties}>
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
            fitViewOptions={firstView(drawn.nodes, selected, frame)}
            minZoom={0.05}
            // A page that scrolls is scrolled by the wheel; Ctrl and the wheel zoom.
            preventScrolling={!frame.isPart}
            zoomOnScroll={!frame.isPart}
            onNodeClick={(_event, { id, type }) => type === "step" && onSelect(id)}
            aria-label="Graph of the plan; the tab Steps has the same as a tree"
          >
            <FitAgain nodes={drawn.nodes} selected={selected} frame={frame} />
            <InSight nodes={drawn.nodes} selected={selected} />
            <Background gap={24} />
            {!frame.isPart && <Controls showInteractive={false} />}
            <EffectLegend steps={planSteps} />
            {drawing?.isPlain && (
              <Panel position="top-center" className="fold-panel" role="status">
                Drawn in plain columns: the layout program did not start. Reload the page to try again.
              </Panel>
            )}
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
        </div>
      )}
      {frame?.isPart && <div className="graph-below">{below}</div>}
    </div>
  );
}

/** The meaning of the letters that are in the graph. */
function EffectLegend({ steps }: { steps: readonly StepRun[] }) {
  const used = new Set(steps.map((step) => effectClassOfStep(step)?.letter));
  const shown = EFFECT_CLASSES.filter(({ letter }) => used.has(letter));
  if (shown.length === 0) return null;
  return (
    <Panel position="bottom-center" className="effect-legend">
      {shown.map(({ letter, brief }) => (
        <span key={letter}>
          <b>{letter}</b> {brief}
        </span>
      ))}
    </Panel>
  );
}

/** The size of an element; null before it is drawn. */
interface Size {
  width: number;
  height: number;
}

function useSize() {
  const ref = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState<Size | null>(null);
  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    const observer = new ResizeObserver(([entry]) => {
      if (!entry) return;
      const { width, height } = entry.contentRect;
      setSize({ width: Math.floor(width), height: Math.floor(height) });
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { ref, size };
}

/** The frame of the graph. */
interface Frame extends Size {
  /** True when it fills only a part of the height, and something else is below it. */
  isPart: boolean;
}

/** Largest zoom: a small plan is drawn larger, but not so that it looks like a poster. */
const MAX_ZOOM = 1.25;
/** Space between the graph and its frame, and least heights of a frame and of what is below it, in pixels. */
const MARGIN = 34;
const MIN_FRAME = 170;
const MIN_BELOW = 150;

/** A plan that needs only a part of the height gets only that, when there is something to show below it. */
function frameOf(nodes: readonly DrawnNode[], { width, height }: Size, hasBelow: boolean): Frame {
  const { right, bottom } = extentOf(nodes);
  const zoom = Math.min(MAX_ZOOM, Math.max(MIN_ZOOM, (width - 2 * MARGIN) / right));
  const wanted = Math.max(MIN_FRAME, Math.ceil(bottom * zoom) + 2 * MARGIN);
  const isPart = hasBelow && wanted <= height - MIN_BELOW;
  return { width, height: isPart ? wanted : height, isPart };
}

function extentOf(nodes: readonly DrawnNode[]): { right: number; bottom: number } {
  return {
    right: Math.max(NODE_WIDTH, ...nodes.map(({ position }) => position.x + NODE_WIDTH)),
    bottom: Math.max(NODE_HEIGHT, ...nodes.map(({ position, height = NODE_HEIGHT }) => position.y + height)),
  };
}

/** Fits the graph into its frame whenever the frame changes, as when the inspector opens, and with more nodes. */
function FitAgain({
  nodes,
  selected,
  frame,
}: {
  nodes: readonly DrawnNode[];
  selected: string | null;
  frame: Frame;
}) {
  const flow = useReactFlow<DrawnNode>();
  // Measured by the graph itself: only then it can be fitted.
  const measured = useStore(({ width, height }) => `${Math.round(width)} ${Math.round(height)}`);
  const newest = useRef({ nodes, selected, frame });
  newest.current = { nodes, selected, frame };
  // biome-ignore lint/correctness/useExhaustiveDependencies: another size or number of nodes fits again.
  useEffect(() => {
    void flow.fitView(firstView(newest.current.nodes, newest.current.selected, newest.current.frame));
  }, [flow, measured, nodes.length]);
  return null;
}

/** Scrolls to a step that was selected elsewhere, or that is the next to look at. */
function InSight({ nodes, selected }: { nodes: readonly DrawnNode[]; selected: string | null }) {
  const flow = useReactFlow();
  const newest = useRef(nodes);
  newest.current = nodes;
  const urgent = nodes.find((node) => node.type === "step" && node.data.isUrgent)?.id ?? null;
  const target = selected ?? urgent;
  useEffect(() => {
    const node = newest.current.find(({ id, data }) => (selected === null ? id === target : data.isSelected));
    if (target === null || !node || isInSight(node.id)) return;
    const { x, y } = node.position;
    const zoom = Math.max(flow.getZoom(), MIN_ZOOM);
    void flow.setCenter(x + NODE_WIDTH / 2, y + (node.height ?? 0) / 2, { zoom });
  }, [flow, selected, target]);
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
  const urgent = urgentStep(steps);
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
    const isUrgent = id === urgent;
    const data = { step, histogram, share, isSelected: id === selected, isCritical, isUrgent };
    return [{ ...box, type: "step", data }];
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

/** The smallest zoom at which a text of a readable size has its place in a node; the style sheet enlarges it so. */
const MIN_ZOOM = 0.55;

/** The first view: the complete plan if its names can be read, otherwise the most urgent node. */
function firstView(
  nodes: readonly DrawnNode[],
  selected: string | null,
  { width, height }: Size,
): FitViewOptions<DrawnNode> {
  const { right, bottom } = extentOf(nodes);
  const fits = right * MIN_ZOOM <= width && bottom * MIN_ZOOM <= height;
  const focus = fits ? undefined : nodeInFocus(nodes, selected);
  return focus
    ? { nodes: [{ id: focus.id }], maxZoom: 0.85 }
    : { maxZoom: MAX_ZOOM, padding: { top: "24px", x: "24px", bottom: "40px" } };
}

function nodeInFocus(nodes: readonly DrawnNode[], selected: string | null): DrawnNode | undefined {
  const chosen = nodes.find(({ data }) => data.isSelected);
  if (selected !== null && chosen) return chosen;
  return nodes.find((node) => node.type === "step" && node.data.isUrgent) ?? nodes[0];
}

const URGENT = ["FAILED", "IN_DOUBT", "WAITING_APPROVAL", "RETRYING", "RUNNING"] as const;

/** The step to look at first: of the most urgent status the first one; undefined when nothing is to be looked at. */
function urgentStep(steps: readonly StepRun[]): string | undefined {
  const found = URGENT.map((status) => steps.find((step) => step.status === status)?.id);
  return found.find((id) => id !== undefined);
}
