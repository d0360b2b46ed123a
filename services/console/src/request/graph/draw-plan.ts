import type { Edge, FitViewOptions } from "@xyflow/react";
import { type StepRow } from "../../data/request-facts.ts";
import { criticalPath } from "./critical-path.ts";
import type { FoldedNode } from "./fold.ts";
import type { FoldNode } from "./fold-box.tsx";
import type { Histogram } from "./histogram.ts";
import { LIST_HEIGHT, NODE_HEIGHT, NODE_WIDTH } from "./shape.ts";
import type { StepNode } from "./step-box.tsx";
import type { Drawing } from "./use-layout.ts";

/** A node of the graph. */
export type DrawnNode = StepNode | FoldNode;

/** The content of a drawing, without the positions. */
export interface DrawnPlan {
  /** The steps of the plan, without the items of lists. */
  steps: readonly StepRow[];
  histograms: ReadonlyMap<string, Histogram>;
  selected: string | null;
  onOpen: (members: readonly string[]) => void;
}

/** The height of a node. */
export function heightOf(id: string, histograms: ReadonlyMap<string, Histogram>): number {
  return histograms.has(id) ? LIST_HEIGHT : NODE_HEIGHT;
}

/** The nodes and edges to draw. */
export function drawPlan(
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
export const MIN_ZOOM = 0.55;

/** About the part of the window that the graph fills. */
const FRAME = { width: 0.9, height: 0.5 };

/** The first view: the complete plan if its names can be read, otherwise the most urgent node. */
export function firstView(nodes: readonly DrawnNode[], selected: string | null): FitViewOptions<DrawnNode> {
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
