import { mergeObserved, type OutputShape } from "@planwright/plan";
import type { Collections } from "../database/collections.ts";
import type { ObservedOutputDocument } from "../records/tool-documents.ts";

/** New observations of one tool's outputs in one tenant. */
export interface LearnedOutput {
  tenant: string;
  server: string;
  /** The tool's name on the server. */
  tool: string;
  /** Digest of the tool's descriptor when it was called. */
  digest: string;
  shape: OutputShape;
}

/** Maximum number of tools of one tenant whose shapes are read, the most recently called first. */
const MAX_SHOWN = 2_000;

type Named = Pick<LearnedOutput, "server" | "digest">;
const nameOf = ({ server, digest }: Named): string => `${server}/${digest}`;

/**
 * Merges observations into the stored shapes: one read and one bulk for all. When two processes do this at
 * the same time, observations of one may be lost; the next outputs bring them again.
 */
export async function learnOutputs(
  { observedOutputs }: Pick<Collections, "observedOutputs">,
  learned: readonly LearnedOutput[],
  seenAt: Date,
): Promise<void> {
  if (learned.length === 0) return;
  const idOf = (each: LearnedOutput): string => `${each.tenant}/${nameOf(each)}`;
  const known = await observedOutputs.find({ _id: { $in: learned.map(idOf) } }).toArray();
  const shapes = new Map(known.map((document) => [document._id, shapeIn(document)]));
  const updates = learned.map((each) => {
    const { tenant, server, tool, digest } = each;
    const shape = JSON.stringify(mergeObserved(shapes.get(idOf(each)), each.shape));
    const change = { $set: { tenant, server, tool, digest, shape, seenAt } };
    return { updateOne: { filter: { _id: idOf(each) }, update: change, upsert: true } };
  });
  await observedOutputs.bulkWrite(updates, { ordered: false });
}

/** The observed shapes of a tenant, by server and digest of the tool. */
export async function readObserved(
  { observedOutputs }: Pick<Collections, "observedOutputs">,
  tenant: string,
): Promise<(tool: Named) => OutputShape | undefined> {
  const seen = await observedOutputs.find({ tenant }).sort({ seenAt: -1 }).limit(MAX_SHOWN).toArray();
  const byName = new Map(seen.map((document) => [nameOf(document), document]));
  return (tool) => {
    const document = byName.get(nameOf(tool));
    return document && shapeIn(document);
  };
}

function shapeIn({ shape }: ObservedOutputDocument): OutputShape {
  const parsed: OutputShape = JSON.parse(shape);
  return parsed;
}
