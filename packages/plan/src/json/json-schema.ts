import { z } from "zod";
import type { JsonObject } from "./json.ts";

/** JSON Schema 2020-12 of a shape as input: fields with a default may be left out. */
export function jsonSchemaOf(shape: z.ZodType): JsonObject {
  return JSON.parse(JSON.stringify(z.toJSONSchema(shape, { io: "input", target: "draft-2020-12" })));
}
