import { useEffect, useState } from "react";
import { type GraphShape, type Positions, plainPositions } from "./fold.ts";

/**
 * Most cached layouts. They are cached by shape: during execution, and often between versions, it stays the
 * same.
 */
const CACHE_SIZE = 60;
const layouts = new Map<string, Promise<Layout>>();

/** The positions of a shape, and whether the layout program computed them. */
interface Layout {
  positions: Positions;
  /** True when the layout program did not answer: see {@link plainPositions}. */
  isPlain: boolean;
}

/** The layout program in its worker, with the shapes that it has not answered. */
interface LayoutWorker {
  worker: Worker;
  open: Map<number, { shape: GraphShape; resolve: (layout: Layout) => void }>;
}

/** Started with the page, so that it is ready when the plan arrives. */
let running: LayoutWorker | null = startWorker(new Map());
let restarts = 0;
let lastId = 0;

function startWorker(open: LayoutWorker["open"]): LayoutWorker {
  const worker = new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
  const started = { worker, open };
  worker.addEventListener("message", ({ data }: MessageEvent<{ id: number; positions: Positions }>) => {
    open.get(data.id)?.resolve({ positions: data.positions, isPlain: false });
    open.delete(data.id);
  });
  // Its file did not load, as after an update of the service, or it threw.
  worker.addEventListener("error", (event) => {
    event.preventDefault();
    giveUp(started);
  });
  for (const [id, { shape }] of open) worker.postMessage({ id, shape });
  return started;
}

/** Starts the worker again once; after that the open shapes, and later ones, get plain positions. */
function giveUp(failed: LayoutWorker): void {
  if (running !== failed) return;
  failed.worker.terminate();
  if (restarts === 0) {
    restarts += 1;
    running = startWorker(failed.open);
    return;
  }
  running = null;
  for (const { shape, resolve } of failed.open.values()) resolve(plainLayout(shape));
}

const plainLayout = (shape: GraphShape): Layout => ({ positions: plainPositions(shape), isPlain: true });

/** A drawing: its content, and the positions of its nodes. */
export interface Drawing<Content> extends Layout {
  content: Content;
  shape: GraphShape;
}

/**
 * Computes the layout of a graph. While a new layout is computed, the earlier drawing stays.
 * @param content - the source of the shape; it is returned with the positions of that shape
 * @returns null before the first drawing
 */
export function useLayout<Content>(content: Content, shape: GraphShape): Drawing<Content> | null {
  const key = JSON.stringify(shape);
  const [drawn, setDrawn] = useState<(Drawing<Content> & { key: string }) | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key covers content and shape.
  useEffect(() => {
    let isCancelled = false;
    void layoutOf(key, shape).then((layout) => {
      if (!isCancelled) setDrawn({ key, content, shape, ...layout });
    });
    return () => {
      isCancelled = true;
    };
  }, [key]);
  return drawn?.key === key ? { ...drawn, content } : drawn;
}

function layoutOf(key: string, shape: GraphShape): Promise<Layout> {
  const known = layouts.get(key);
  if (known) return known;
  const layout = new Promise<Layout>((resolve) => {
    if (!running) {
      resolve(plainLayout(shape));
      return;
    }
    const id = ++lastId;
    running.open.set(id, { shape, resolve });
    running.worker.postMessage({ id, shape });
  });
  layouts.set(key, layout);
  const [oldest] = layouts.keys();
  if (layouts.size > CACHE_SIZE && oldest !== undefined) layouts.delete(oldest);
  return layout;
}
