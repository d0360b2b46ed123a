import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleProgram } from "./bundle-program.ts";
import { bundleServices, type ServiceName } from "./bundle-services.ts";

/** The part of Vitest's project that the setup uses. */
interface TestProject {
  provide(key: "planwrightServices", value: Record<ServiceName, string>): void;
  provide(key: "planwrightProgram", value: string): void;
}

/** Inside the checkout: services look for the files of packages that they serve. */
const CACHE = fileURLToPath(new URL("../../../../node_modules/.cache/", import.meta.url));

/** Vitest's global setup: the services and the command of this checkout, bundled once for the whole run. */
export default async function setup(project: TestProject): Promise<() => void> {
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, "planwright-services-"));
  const [services, program] = await Promise.all([
    bundleServices(folder),
    bundleProgram(join(folder, "planwright")),
  ]);
  project.provide("planwrightServices", services);
  project.provide("planwrightProgram", program);
  return () => rmSync(folder, { recursive: true, force: true });
}
