import { configureGlobal } from "fast-check";
import { z } from "zod";

/**
 * The seed of every property test, from PROPERTY_SEED: a whole number, or `random` for one of its own a test.
 * Default 1, so that a test run of one commit has one result, and what fails can be run again by the same
 * command; other seeds are for looking for faults (`PROPERTY_SEED=random npx vitest run --project
 * packages/plan`).
 */
const PropertySeedSchema = z.union([z.literal("random"), z.coerce.number().int()]).default(1);

const seed = PropertySeedSchema.parse(process.env["PROPERTY_SEED"]);
if (seed !== "random") configureGlobal({ seed });
