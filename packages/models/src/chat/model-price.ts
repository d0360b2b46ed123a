import { z } from "zod";

const usd = z.number().min(0).max(100_000);

/** What a model costs, in US dollars for a million tokens. */
export const ModelPriceSchema = z.strictObject({
  input: usd,
  /** Of input that the provider had from an earlier call. Default: as other input. */
  cachedInput: usd.optional(),
  output: usd,
});
export type ModelPrice = z.infer<typeof ModelPriceSchema>;
