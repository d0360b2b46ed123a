import { readFileSync } from "node:fs";
import { minifyIntrospection, preprocessIntrospection } from "gql.tada/internal";
import { buildSchema, introspectionFromSchema } from "graphql";
import { expect, test } from "vitest";

const SCHEMA = new URL("../../../services/api/src/graphql/schema.graphql", import.meta.url);

test("introspection.ts has the types of the API's schema (run vitest with -u after a change)", async () => {
  const schema = buildSchema(readFileSync(SCHEMA, "utf8"));
  const types = preprocessIntrospection(minifyIntrospection(introspectionFromSchema(schema)));
  const source = `// Made from schema.graphql of the API by test/schema.test.ts: run vitest with -u after a change there.
/** The API's schema as a type. */
export type Introspection = ${types.trimEnd()};
`;
  await expect(source).toMatchFileSnapshot("../src/schema/introspection.ts");
});
