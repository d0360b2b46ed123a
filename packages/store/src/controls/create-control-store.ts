import type { StoreDependencies } from "../journal/dependencies.ts";
import { askContracts, askReload, readContractAsk } from "../tools/tool-servers.ts";
import { createApprove } from "./approve.ts";
import { createAskControl, createAskDecision } from "./ask-control.ts";
import { createCancel } from "./cancel.ts";
import type { ControlStore } from "./control-store.ts";
import { createPause } from "./pause.ts";
import { createResolve } from "./resolve.ts";

/** The part of the store that records controls. */
export function createControlStore(dependencies: StoreDependencies): ControlStore {
  const askControl = createAskControl(dependencies);
  const askDecision = createAskDecision(dependencies, askControl);
  return {
    ...createCancel(dependencies, askControl),
    ...createPause(dependencies, askControl),
    ...createApprove(askDecision, dependencies),
    ...createResolve(dependencies, askDecision),
    askReload: (server, by) =>
      askReload(dependencies.collections, server, { by, at: new Date(dependencies.clock.now()) }),
    askContracts: (server, ask) =>
      askContracts(dependencies.collections, server, { ...ask, at: new Date(dependencies.clock.now()) }),
    readContractAsk: (server) => readContractAsk(dependencies.collections, server),
  };
}
