import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleServices, type ServiceName } from "./bundle-services.ts";

/** The part of Vitest's project that the setup uses. */
interface TestProject {
  provide(key: "planwrightServices", value: Record<ServiceName, string>): void;
}

/** Inside the checkout: services look for the files of packages that they serve. */
const CACHE = fileURLToPath(new URL("../../../../node_modules/.cache/", import.meta.url));

/** Vitest's global setup: the services of this checkout, bundled once for the whole run. */
export default async function setup(project: TestProject): Promise<() => void> {
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, "planwright-services-"));
  project.provide("planwrightServices", await bundleServices(folder));
  return () => rmSync(folder, { recursive: true, force: true });
}
