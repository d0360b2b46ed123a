import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const { resolve } = createRequire(import.meta.url);

/**
 * The schema in the schema definition language, from schema.graphql. The file is found by its name in the
 * exports of this package, so that sources, build and test bundles read the same file.
 */
export const SDL = readFileSync(resolve("@planwright/api/schema.graphql"), "utf8");
