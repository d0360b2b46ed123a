/** `npx vitest run --project services/console plan-schema -u` writes the file again. */
import { planJsonSchema } from "@planwright/plan";
import { expect, test } from "vitest";

test("the editor completes by the schema of the plan as it is now", async () => {
  const schema = `${JSON.stringify(planJsonSchema(), null, 1)}\n`;
  await expect(schema).toMatchFileSnapshot("../src/desk/plan.schema.json");
});
