import { readdirSync, readFileSync } from "node:fs";
import { minifyIntrospection, preprocessIntrospection } from "gql.tada/internal";
import { buildSchema, introspectionFromSchema } from "graphql";
import { expect, test } from "vitest";

const FOLDER = new URL("../../../services/api/src/graphql/", import.meta.url);
const SDL = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".graphql"))
  .map((name) => readFileSync(new URL(name, FOLDER), "utf8"))
  .join("\n");

test("introspection.ts has the types of the API's schema (run vitest with -u after a change)", async () => {
  const schema = buildSchema(SDL);
  const types = preprocessIntrospection(minifyIntrospection(introspectionFromSchema(schema)));
  const source = `// Made from the .graphql files of the API by test/schema.test.ts: run vitest with -u after a change there.
/** The API's schema as a type. */
export type Introspection = ${types.trimEnd()};
`;
  await expect(source).toMatchFileSnapshot("../src/schema/introspection.ts");
});
