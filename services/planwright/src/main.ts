import cluster from "node:cluster";
import { createLogger, readOrExit, runRoles } from "@planwright/runtime";
import { runChecks } from "./check.ts";
import { composed } from "./composed.ts";
import { readArguments, readProcess } from "./env.ts";
import { freeMemoryWhenIdle } from "./free-memory.ts";
import { endWithFirst, runProcesses, sayReady } from "./processes.ts";

const { check, ...wanted } = await readOrExit(() => readArguments(process.argv.slice(2)), process);
if (check) {
  await runChecks(check, process.env, (found) => process.stdout.write(`${JSON.stringify(found)}\n`));
} else {
  const { roles, healthPort, isAlone } = await readOrExit(() => readProcess(wanted, process.env), process);
  const [role, ...others] = roles;
  const service = others.length === 0 ? role.name : "planwright";
  if (wanted.processes > 1 && cluster.isPrimary) {
    const logger = createLogger({ service, level: role.settings.LOG_LEVEL });
    runProcesses({ count: wanted.processes, healthPort, logger });
  } else {
    await runRoles(roles, {
      service,
      healthPort,
      ...(cluster.isWorker && { onShutdown: endWithFirst }),
      ...composed(roles, { healthPort, isAlone }),
    });
    if (cluster.isWorker) sayReady();
    freeMemoryWhenIdle();
  }
}
