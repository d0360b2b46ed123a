/** `npx vitest run --project services/console plan-schema -u` writes the file again. */
import { planJsonSchema } from "@planwright/plan";
import { expect, test } from "vitest";

test("the schema of the editor is the current schema of plans", async () => {
  const schema = `${JSON.stringify(planJsonSchema(), null, 1)}\n`;
  await expect(schema).toMatchFileSnapshot("../src/desk/plan.schema.json");
});
