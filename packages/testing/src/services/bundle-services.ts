import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleWithCodeCache } from "./bundle-with-code-cache.ts";
import { SERVICE_MAINS, type ServiceName, ServiceNameSchema } from "./service-mains.ts";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
/** Services end without their settings; this one needs none, but its script has to be JSON. */
const ENDING: Partial<Record<ServiceName, readonly string[]>> = { "counting-tools": ["--script", "none"] };

/**
 * Bundles each service from its source: tests that kill processes start hundreds of them.
 *
 * @param folder - gets a folder for each service
 * @returns what Node is given to start each service
 */
export async function bundleServices(folder: string): Promise<Record<ServiceName, string>> {
  const bundled = ServiceNameSchema.options.map(async (service) => {
    const main = join(ROOT, SERVICE_MAINS[service]);
    return [service, await bundleWithCodeCache(join(folder, service), main, ENDING[service] ?? [])] as const;
  });
  return Object.fromEntries(await Promise.all(bundled)) as Record<ServiceName, string>;
}
