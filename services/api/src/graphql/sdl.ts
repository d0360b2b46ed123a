import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const { resolve } = createRequire(import.meta.url);

/**
 * The schema in the schema definition language, as schema.graphql holds it. The file is found by its name in
 * the exports of this package, so that the sources, the build and bundles for tests all read the same one.
 */
export const SDL = readFileSync(resolve("@planwright/api/schema.graphql"), "utf8");
