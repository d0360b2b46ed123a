import { z } from "zod";
import { ModelSettingError } from "./model-errors.ts";

/** Providers that `MODEL` can name. */
export type Provider = "openai" | "anthropic";

/** `MODEL` as parsed: no model at all, or one of a provider. */
export type ModelSetting =
  | { kind: "offline" }
  | { kind: "model"; provider: Provider; model: string; name: string };

/** What a drafter is made from; the names are those of the environment. */
export const ModelSettingsSchema = z.object({
  /** "offline", "openai:<model>" or "anthropic:<model>". */
  MODEL: z.string().min(1).max(200).default("offline"),
  OPENAI_API_KEY: z.string().min(1).max(1_000).optional(),
  /** Any server that speaks the OpenAI protocol, such as Ollama, vLLM or Groq; a key is then optional. */
  OPENAI_BASE_URL: z.url().max(2_000).optional(),
  ANTHROPIC_API_KEY: z.string().min(1).max(1_000).optional(),
  ANTHROPIC_BASE_URL: z.url().max(2_000).optional(),
  /** Longest one model call may take, in milliseconds. */
  MODEL_TIMEOUT_MS: z.coerce.number().int().min(1).max(600_000).default(60_000),
  /** Further tries after 429, 5xx and lost connections. */
  MODEL_MAX_RETRIES: z.coerce.number().int().min(0).max(10).default(2),
  /** Most tokens that one answer may have. */
  MODEL_MAX_OUTPUT_TOKENS: z.coerce.number().int().min(64).max(200_000).default(8_192),
});
export type ModelSettings = z.infer<typeof ModelSettingsSchema>;
/** Settings as a caller gives them: each one optional. */
export type ModelSettingsInput = z.input<typeof ModelSettingsSchema>;

/** Reads `MODEL`. @throws {ModelSettingError} naming the forms that are known */
export function parseModelSetting(value: string): ModelSetting {
  if (value === "offline") return { kind: "offline" };
  const colon = value.indexOf(":");
  const provider = value.slice(0, colon);
  const model = value.slice(colon + 1).trim();
  if ((provider === "openai" || provider === "anthropic") && model !== "") {
    return { kind: "model", provider, model, name: `${provider}:${model}` };
  }
  throw new ModelSettingError({ setting: value.slice(0, 100) });
}
