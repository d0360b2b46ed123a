import { BUNDLE_FORMAT, type DebugBundle } from "@planwright/client";
import {
  depthOf,
  isJsonObject,
  type JsonValue,
  PlanIdSchema,
  parseExactJson,
  RequestIdSchema,
  StepIdSchema,
} from "@planwright/plan";
import { z } from "zod";
import type { RequestPage } from "../data/request-operations.ts";

/** The content of a `debugBundle` file: the answers of the API about one request. */
export type BundledRequest = Omit<DebugBundle, "request"> & { request: RequestPage };

/** Largest file that is read, in MiB. A bundle has at most 7 MiB; its file is indented. */
const MAX_MIB = 32;
const MIB = 1_024 * 1_024;
/** Deepest nesting of a bundle: the service keeps at most 200 levels of a value. */
const MAX_DEPTH = 250;
const REMEDY = "Make one with: planwright debug REQUEST --bundle";

/** Why a file of this size cannot be a bundle; undefined when it can be. */
export function refusalOf({ name, size }: Pick<File, "name" | "size">): string | undefined {
  if (size <= MAX_MIB * MIB) return undefined;
  const sizeMib = Math.ceil(size / MIB).toLocaleString("en");
  return `${name} has ${sizeMib} MiB; a bundle has at most ${MAX_MIB}, so it was not read. ${REMEDY}`;
}

/**
 * Reads the text of a file. Its ids become links and commands to copy, so each of them must be an id.
 * @returns why it cannot be shown: for a text that is not a bundle, also when it is nested deeper than a bundle can
 * be, and for a bundle of another format
 */
export function readBundle(name: string, text: string): BundledRequest | string {
  const found = parsed(text);
  const format = isJsonObject(found) ? found["formatVersion"] : undefined;
  if (typeof format === "number" && format !== BUNDLE_FORMAT)
    return `${name} is a bundle of format ${format}, and this page shows format ${BUNDLE_FORMAT}: it was made by ${
      format < BUNDLE_FORMAT ? "an older" : "a newer"
    } version of Planwright. ${REMEDY}`;
  if (typeof format !== "number" || !BundleSchema.safeParse(found).success)
    return `${name} is not a bundle. ${REMEDY}`;
  // The service writes its own answers; of a file that differs from them the ids are checked, and its page may fail.
  const bundle = found as unknown as BundledRequest;
  const { request, plans } = bundle;
  return {
    ...bundle,
    request: {
      ...request,
      plan: plans[0] ?? null,
      // A file has no journal to read moments from, and is not trusted with links and commands.
      seq: 0,
      traceUrl: null,
      diagnosis: { ...request.diagnosis, next: [] },
    },
  };
}

function parsed(text: string): JsonValue {
  try {
    const value = parseExactJson(text);
    if (!isJsonObject(value) || depthOf(value, MAX_DEPTH) > MAX_DEPTH) return null;
    // A file may also have the complete answer of the API.
    const { data } = value;
    return (isJsonObject(data) ? data["debugBundle"] : undefined) ?? value;
  } catch {
    return null;
  }
}

/** The key of an item is the id of its step with a position. */
const stepKey = z.string().refine((key) => StepIdSchema.safeParse(key.replace(/\[\d{1,8}\]$/, "")).success);

const BundleSchema = z.looseObject({
  formatVersion: z.literal(BUNDLE_FORMAT),
  generatedAt: z.string(),
  request: z.looseObject({
    requestId: RequestIdSchema,
    diagnosis: z.looseObject({ stepKeys: z.array(stepKey) }),
  }),
  plans: z.array(
    z.looseObject({
      planId: PlanIdSchema,
      steps: z.array(z.looseObject({ id: StepIdSchema, key: stepKey })),
    }),
  ),
  modelCalls: z.array(z.looseObject({})),
  events: z.array(z.looseObject({ stepId: StepIdSchema.nullable(), key: stepKey.nullable() })),
});
