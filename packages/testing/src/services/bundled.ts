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
 * What Node is given to start each service, as the sources were at the first call of this test run, which
 * bundles them.
 */
export function bundledServices(): Record<ServiceName, string> {
  return askOnDemand(inject("planwrightServices"), ServicesSchema);
}

/** The folder of the package of the command `planwright`, bundled by the first call of this test run. */
export function bundledProgram(): string {
  return askOnDemand(inject("planwrightProgram"), z.string());
}
