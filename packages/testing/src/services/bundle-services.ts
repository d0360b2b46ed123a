import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleWithCodeCache } from "./bundle-with-code-cache.ts";
import { SERVICE_MAINS, type ServiceName, ServiceNameSchema } from "./service-mains.ts";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
/**
 * Arguments with which a program ends by itself. Services end without settings; this one needs no settings,
 * so its script is invalid JSON.
 */
const ARGS_TO_END: Partial<Record<ServiceName, readonly string[]>> = {
  "counting-tools": ["--script", "none"],
};

/**
 * Bundles each service from its source, because tests that kill processes start hundreds of them.
 *
 * @param folder - receives a folder for each service
 * @returns the argument for Node that starts each service
 */
export async function bundleServices(folder: string): Promise<Record<ServiceName, string>> {
  const bundled = ServiceNameSchema.options.map(async (service) => {
    const main = join(ROOT, SERVICE_MAINS[service]);
    return [
      service,
      await bundleWithCodeCache(join(folder, service), main, ARGS_TO_END[service] ?? []),
    ] as const;
  });
  return Object.fromEntries(await Promise.all(bundled)) as Record<ServiceName, string>;
}
