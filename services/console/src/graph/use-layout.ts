import { useEffect, useState } from "react";
import type { GraphShape, Positions } from "./fold.ts";

/**
 * Most cached layouts. They are cached by shape: during execution, and often between versions, it stays the
 * same.
 */
const CACHE_SIZE = 60;
const layouts = new Map<string, Promise<Positions>>();

/** Started with the page, so that it is ready when the plan arrives. */
const worker = new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
let lastId = 0;

/** A drawing: its content, and the positions of its nodes. */
export interface Drawing<Content> {
  content: Content;
  shape: GraphShape;
  positions: Positions;
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
    void layoutOf(key, shape).then((positions) => {
      if (!isCancelled) setDrawn({ key, content, shape, positions });
    });
    return () => {
      isCancelled = true;
    };
  }, [key]);
  return drawn?.key === key ? { ...drawn, content } : drawn;
}

function layoutOf(key: string, shape: GraphShape): Promise<Positions> {
  const known = layouts.get(key);
  if (known) return known;
  const id = ++lastId;
  const layout = new Promise<Positions>((resolve) => {
    const onAnswer = ({ data }: MessageEvent<{ id: number; positions: Positions }>) => {
      if (data.id !== id) return;
      worker.removeEventListener("message", onAnswer);
      resolve(data.positions);
    };
    worker.addEventListener("message", onAnswer);
    worker.postMessage({ id, shape });
  });
  layouts.set(key, layout);
  const [oldest] = layouts.keys();
  if (layouts.size > CACHE_SIZE && oldest !== undefined) layouts.delete(oldest);
  return layout;
}
