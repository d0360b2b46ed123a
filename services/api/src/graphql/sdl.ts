import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const { resolve } = createRequire(import.meta.url);

/** Found by the exports of this package, so that sources, build and test bundles read the same files. */
const FOLDER = dirname(resolve("@planwright/api/graphql/operations.graphql"));

/** The schema in the schema definition language: the .graphql files of this folder, one a subject. */
export const SDL = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".graphql"))
  .map((name) => readFileSync(join(FOLDER, name), "utf8"))
  .join("\n");
