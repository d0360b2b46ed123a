import { createLocalFirstQueues, createLocalQueues, createQueues } from "@planwright/queue";
import { readOrExit, runRoles } from "@planwright/runtime";
import { createStore } from "@planwright/store";
import { createStoreAlone } from "./alone.ts";
import { readProcess } from "./env.ts";
import { tellEndsHere } from "./tell-ends-here.ts";

const { roles, healthPort, isAlone } = await readOrExit(
  () => readProcess(process.argv.slice(2), process.env),
  process,
);
const service = { service: "planwright", healthPort };
const { HOST: host } = roles[0].settings;
if (isAlone)
  await runRoles(roles, {
    ...service,
    createStore: async (options) => tellEndsHere(await createStoreAlone(options, { host, healthPort })),
    createQueues({ onError, logger }) {
      logger.info(
        "works alone, without Redis: limits of tools and callers are in memory; a second process, or roles apart, need REDIS_URL",
      );
      return createLocalQueues({ onError });
    },
  });
else
  await runRoles(roles, {
    ...service,
    createStore: async (options) => tellEndsHere(await createStore(options)),
    createQueues: (options) => createLocalFirstQueues(createQueues(options)),
  });
