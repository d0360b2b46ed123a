/**
 * Measures plans from the HTTP request to their end. The built system runs as separate processes, and so do
 * the tools, over MCP. With --peers it also measures alternatives on the same steps. The clients run in this
 * process. All contenders stay up and take turns, so that other load on the machine affects all of them.
 *
 * npm run bench -- system [--seconds 10] [--clients 64] [--rounds 3] [--peers] [--json] The exit code is 1
 * when a plan does not end COMPLETED. Slow figures do not fail the run: they depend on the machine.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { print, printJson, say } from "../../report/output.ts";
import type { Contender } from "../contenders/contender.ts";
import { startDbos } from "../contenders/dbos.ts";
import { installPeers } from "../contenders/install-peers.ts";
import { startPlanwright } from "../contenders/planwright.ts";
import { startRestate } from "../contenders/restate.ts";
import { type Figures, measure } from "./measure.ts";
import { mediansOf } from "./medians.ts";
import { readSettings } from "./settings.ts";
import { type Measurement, tableOf } from "./table.ts";

const { seconds, clients, rounds, peers, json } = readSettings(process.argv.slice(2));
const forMs = seconds * 1_000;
const folder = await mkdtemp(join(tmpdir(), "planwright-bench-"));
const contenders: Contender[] = [];
/** Plans before the measurements, so that the JIT has compiled the code. Fewer on a slow machine. */
const WARM_UP_PLANS = 1_000;
const MAX_WARM_UP_MS = 6 * forMs;

async function startAll(): Promise<void> {
  contenders.push(await startPlanwright({ dataDir: folder, clients }));
  if (!peers) return;
  const installed = installPeers();
  contenders.push(await startRestate({ dataDir: folder, clients, installed }));
  contenders.push(await startDbos({ dataDir: folder, clients, installed }));
}

async function measureAll(): Promise<Measurement[]> {
  for (const contender of contenders) {
    say(`${contender.name} warms up`);
    await measure(contender, { inFlight: clients, forMs: MAX_WARM_UP_MS, maxPlans: WARM_UP_PLANS });
  }
  const series = contenders.flatMap((contender) =>
    [clients, 1].map((inFlight) => ({ contender, inFlight, figures: new Array<Figures>() })),
  );
  for (let round = 1; round <= rounds; round += 1) {
    for (const { contender, inFlight, figures } of series) {
      const measured = await measure(contender, { inFlight, forMs });
      figures.push(measured);
      say(`round ${round}: ${contender.name}, ${inFlight} in flight ${JSON.stringify(measured)}`);
    }
  }
  return series.map(({ contender: { name, versions, steps, end }, inFlight, figures }) => ({
    name,
    versions,
    steps,
    end,
    inFlight,
    figures: mediansOf(figures),
  }));
}

try {
  await startAll();
  const measurements = await measureAll();
  const runtime = { node: process.version, cores: availableParallelism(), loadAverage: loadavg() };
  if (json) printJson({ runtime, seconds, rounds, measurements });
  else {
    console.table(tableOf(measurements));
    print(`Node ${runtime.node}, ${runtime.cores} cores, load average ${loadavg()[0]?.toFixed(1)}`);
  }
} finally {
  await Promise.all(contenders.map((contender) => contender.close()));
  await rm(folder, { recursive: true, force: true });
}
