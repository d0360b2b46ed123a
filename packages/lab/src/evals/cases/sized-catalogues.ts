import { readFileSync } from "node:fs";
import type { ToolDescriptor } from "@planwright/plan";
import { z } from "zod";
import { thousandTools } from "../../../../models/test/thousand-tools/thousand-tools.ts";
import { CaseInvalidError } from "./case-invalid-error.ts";

/** A part of the catalogue of 1,000 tools: all tools of some servers, or single tools. */
const CataloguesSchema = z.record(
  z.string(),
  z.union([
    z.strictObject({ servers: z.array(z.string()).min(1) }),
    z.strictObject({ tools: z.array(z.string()).min(1) }),
  ]),
);

/**
 * Catalogues of three to hundreds of tools, by name, as `sized-catalogues.json` defines them.
 * @throws {CaseInvalidError} for an unknown server or tool
 */
export function sizedCatalogues(): Map<string, ToolDescriptor[]> {
  const all = thousandTools();
  const listed = CataloguesSchema.parse(
    JSON.parse(readFileSync(new URL("sized-catalogues.json", import.meta.url), "utf8")),
  );
  const toolsBy = (key: "server" | "name", wanted: string) => {
    const found = all.filter((tool) => tool[key] === wanted);
    if (found.length === 0) throw new CaseInvalidError({ reason: `there is no ${key} ${wanted}` });
    return found;
  };
  return new Map(
    Object.entries(listed).map(([name, parts]) => [
      name,
      "servers" in parts
        ? parts.servers.flatMap((server) => toolsBy("server", server))
        : parts.tools.flatMap((tool) => toolsBy("name", tool)),
    ]),
  );
}
