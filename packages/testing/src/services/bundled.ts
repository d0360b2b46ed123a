import { inject } from "vitest";
import { z } from "zod";
import { askOnDemand } from "../on-demand/ask.ts";
import type { OnDemand } from "../on-demand/protocol.ts";
import { type ServiceName, ServiceNameSchema } from "./service-mains.ts";

declare module "vitest" {
  export interface ProvidedContext {
    planwrightServices: OnDemand;
    planwrightProgram: OnDemand;
  }
}

const ServicesSchema = z.record(ServiceNameSchema, z.string());

/**
 * The argument for Node that starts each service. The first call of a test run bundles the sources as they
 * are then.
 */
export function bundledServices(): Record<ServiceName, string> {
  return askOnDemand(inject("planwrightServices"), ServicesSchema);
}

/** The folder of the package of the command `planwright`, bundled by the first call of this test run. */
export function bundledProgram(): string {
  return askOnDemand(inject("planwrightProgram"), z.string());
}
