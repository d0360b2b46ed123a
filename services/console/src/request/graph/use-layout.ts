import { useEffect, useState } from "react";
import type { GraphShape, Positions } from "./shape.ts";

/** Layouts that are kept by shape: a plan that is executed keeps its shape, and so do its versions. */
const KEPT = 60;
const layouts = new Map<string, Promise<Positions>>();

/** Started with the page, so that it is ready when the plan has come. */
const worker = new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
let lastId = 0;

/** What is drawn, with the places of its nodes. */
export interface Drawing<Content> {
  content: Content;
  shape: GraphShape;
  positions: Positions;
}

/**
 * Places the nodes of a graph. While a new shape is placed, the drawing before it stays.
 * @param content - what the shape was made of; it is given back with the positions of that shape
 * @returns null before the first drawing
 */
export function useLayout<Content>(content: Content, shape: GraphShape): Drawing<Content> | null {
  const key = JSON.stringify(shape);
  const [drawn, setDrawn] = useState<(Drawing<Content> & { key: string }) | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says all of content and shape that matters here.
  useEffect(() => {
    let isLeft = false;
    void layoutOf(key, shape).then((positions) => {
      if (!isLeft) setDrawn({ key, content, shape, positions });
    });
    return () => {
      isLeft = true;
    };
  }, [key]);
  return drawn?.key === key ? { ...drawn, content } : drawn;
}

function layoutOf(key: string, shape: GraphShape): Promise<Positions> {
  const known = layouts.get(key);
  if (known) return known;
  const id = ++lastId;
  const made = new Promise<Positions>((resolve) => {
    const onAnswer = ({ data }: MessageEvent<{ id: number; positions: Positions }>) => {
      if (data.id !== id) return;
      worker.removeEventListener("message", onAnswer);
      resolve(data.positions);
    };
    worker.addEventListener("message", onAnswer);
    worker.postMessage({ id, shape });
  });
  layouts.set(key, made);
  const [oldest] = layouts.keys();
  if (layouts.size > KEPT && oldest !== undefined) layouts.delete(oldest);
  return made;
}
