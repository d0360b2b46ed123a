import type { ToolDescriptor } from "@planwright/plan";
import { nameTools } from "@planwright/plan";
import type { Collections } from "./collections.ts";

/** The published tools as one catalogue with unique names. */
export async function readCatalogue({ tools }: Collections): Promise<ToolDescriptor[]> {
  const published = await tools.find().sort({ _id: 1 }).toArray();
  return nameTools(published.map((tool) => tool.descriptor));
}

/** Replaces what is known of one server's tools. */
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
