import { z } from "zod";

/** The programs that tests start as separate processes: the services, and the counting tool server. */
export const ServiceNameSchema = z.enum([
  "api",
  "blog-tools",
  "executor",
  "planner",
  "planwright",
  "counting-tools",
]);
export type ServiceName = z.infer<typeof ServiceNameSchema>;

/** The source of each program, from the root of the repository. */
export const SERVICE_MAINS: Readonly<Record<ServiceName, string>> = {
  api: "services/api/src/main.ts",
  "blog-tools": "services/blog-tools/src/main.ts",
  executor: "services/executor/src/main.ts",
  planner: "services/planner/src/main.ts",
  planwright: "services/planwright/src/main.ts",
  "counting-tools": "packages/testing/src/counting-tool-server/main.ts",
};
