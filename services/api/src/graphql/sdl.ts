import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { packageFile } from "@planwright/runtime";

/** Found by the name of this package, so that sources, build and test bundles read the same files. */
const FOLDER = packageFile(import.meta.url, "@planwright/api", "src/graphql");

/** The schema in the schema definition language: the .graphql files of this folder, one a subject. */
export const SDL = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".graphql"))
  .map((name) => readFileSync(join(FOLDER, name), "utf8"))
  .join("\n");
