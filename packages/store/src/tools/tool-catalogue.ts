import type { ToolDescriptor } from "@planwright/plan";
import { nameTools } from "@planwright/plan";
import type { Collections } from "../database/collections.ts";
import { readObserved } from "./observed-outputs.ts";

/**
 * The published tools as one catalogue with unique names.
 * @param tenant - adds the observed shapes of outputs of this tenant. Default: no shapes
 */
export async function readCatalogue(collections: Collections, tenant?: string): Promise<ToolDescriptor[]> {
  const [published, observedOf] = await Promise.all([
    collections.tools.find().sort({ _id: 1 }).toArray(),
    tenant === undefined ? undefined : readObserved(collections, tenant),
  ]);
  return nameTools(
    published.map((tool) => {
      const observedOutput = observedOf?.(tool);
      return observedOutput ? { ...tool.descriptor, observedOutput } : tool.descriptor;
    }),
  );
}

/** Replaces the tools of one server in the catalogue. */
export async function publishTools(
  { tools }: Collections,
  server: string,
  offered: readonly { descriptor: ToolDescriptor; digest: string }[],
  now: Date,
): Promise<void> {
  const ids = offered.map(({ descriptor }) => `${server}/${descriptor.name}`);
  const replacements = offered.map(({ descriptor, digest }) => ({
    replaceOne: {
      filter: { _id: `${server}/${descriptor.name}` },
      replacement: { server, descriptor, digest, updatedAt: now },
      upsert: true,
    },
  }));
  if (replacements.length > 0) await tools.bulkWrite(replacements, { ordered: false });
  await tools.deleteMany({ server, _id: { $nin: ids } });
}
