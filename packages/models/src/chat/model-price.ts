import { z } from "zod";

const usd = z.number().min(0).max(100_000);

/** Prices of a model, in US dollars per million tokens. */
export const ModelPriceSchema = z.strictObject({
  input: usd,
  /** Price of input that the provider has cached. Default: the price of other input. */
  cachedInput: usd.optional(),
  output: usd,
});
export type ModelPrice = z.infer<typeof ModelPriceSchema>;
