import { parseArgs } from "node:util";
import { z } from "zod";

const SettingsSchema = z.object({
  firstTokenMs: z.coerce.number().min(0).max(60_000),
  promptTokenMs: z.coerce.number().min(0).max(1_000),
  outputTokenMs: z.coerce.number().min(0).max(1_000),
  toolMs: z.coerce.number().int().min(0).max(60_000),
  repeats: z.coerce.number().int().min(1).max(100),
  /** Names of tasks; all when empty. */
  only: z.array(z.string()),
  json: z.boolean(),
});
/** What a run is asked to do; durations in milliseconds. */
export type Settings = z.infer<typeof SettingsSchema>;

/** Reads the command line. @throws {TypeError | z.ZodError} what is wrong with it */
export function readSettings(args: readonly string[]): Settings {
  const { values } = parseArgs({
    args: [...args],
    options: {
      "first-token-ms": { type: "string", default: "500" },
      "prompt-token-ms": { type: "string", default: "0.1" },
      "output-token-ms": { type: "string", default: "12.5" },
      "tool-ms": { type: "string", default: "800" },
      repeats: { type: "string", default: "3" },
      only: { type: "string", multiple: true, default: [] },
      json: { type: "boolean", default: false },
    },
  });
  return SettingsSchema.parse({
    ...values,
    firstTokenMs: values["first-token-ms"],
    promptTokenMs: values["prompt-token-ms"],
    outputTokenMs: values["output-token-ms"],
    toolMs: values["tool-ms"],
  });
}
