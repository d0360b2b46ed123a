import { useEffect, useState } from "react";
import type { GraphShape, Positions } from "./shape.ts";

/** Layouts by shape: a running plan keeps its shape, and so do its versions. */
const layouts = new Map<string, Promise<Positions>>();

let worker: Worker | undefined;
let lastId = 0;

/** Positions of a shape; null while they are made. */
export function useLayout(shape: GraphShape): Positions | null {
  const key = JSON.stringify(shape);
  const [made, setMade] = useState<{ key: string; positions: Positions } | null>(null);
  useEffect(() => {
    let isLeft = false;
    void layoutOf(key, shape).then((positions) => {
      if (!isLeft) setMade({ key, positions });
    });
    return () => {
      isLeft = true;
    };
    // The key says all of the shape.
  }, [key]);
  return made?.key === key ? made.positions : null;
}

function layoutOf(key: string, shape: GraphShape): Promise<Positions> {
  const known = layouts.get(key);
  if (known) return known;
  worker ??= new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
  const id = ++lastId;
  const asked = worker;
  const made = new Promise<Positions>((resolve) => {
    const onAnswer = ({ data }: MessageEvent<{ id: number; positions: Positions }>) => {
      if (data.id !== id) return;
      asked.removeEventListener("message", onAnswer);
      resolve(data.positions);
    };
    asked.addEventListener("message", onAnswer);
    asked.postMessage({ id, shape });
  });
  layouts.set(key, made);
  return made;
}
