import { mergeObserved, type OutputShape } from "@planwright/plan";
import type { Collections } from "../database/collections.ts";
import type { ObservedOutputDocument } from "../records/tool-documents.ts";

/** What was learned of one tool's outputs in one tenant. */
export interface LearnedOutput {
  tenant: string;
  server: string;
  /** The server's own name for the tool. */
  tool: string;
  /** Of the tool as it was called. */
  digest: string;
  shape: OutputShape;
}

/** Tools of one tenant whose outputs are shown, those called last first. */
const MAX_SHOWN = 2_000;

type Named = Pick<LearnedOutput, "server" | "digest">;
const nameOf = ({ server, digest }: Named): string => `${server}/${digest}`;

/**
 * Adds what was learned to what is known: one read and one bulk for all of it. Two processes that do so at
 * once may lose what one of them learned, which the next outputs teach again.
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

/** What a tenant has seen, by server and digest of the tool. */
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
