import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundleServices, type ServiceName } from "./bundle-services.ts";

/** The part of Vitest's project that the setup uses. */
interface TestProject {
  provide(key: "planwrightServices", value: Record<ServiceName, string>): void;
}

/** Vitest's global setup: the services of this checkout, bundled once for the whole run. */
export default async function setup(project: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), "planwright-services-"));
  project.provide("planwrightServices", await bundleServices(folder));
  return () => rmSync(folder, { recursive: true, force: true });
}
