import type { StoreDependencies } from "../journal/dependencies.ts";
import { askReload } from "../tools/tool-servers.ts";
import { createAppendControl } from "./append-control.ts";
import { createApprove } from "./approve.ts";
import { createCancel } from "./cancel.ts";
import type { ControlStore } from "./control-store.ts";
import { createPause } from "./pause.ts";
import { createResolve } from "./resolve.ts";

/** The part of the store that records controls. */
export function createControlStore(dependencies: StoreDependencies): ControlStore {
  const appendControl = createAppendControl(dependencies);
  return {
    ...createCancel(dependencies, appendControl),
    ...createPause(appendControl),
    ...createApprove(appendControl),
    ...createResolve(dependencies, appendControl),
    askReload: (server, by) =>
      askReload(dependencies.collections, server, { by, at: new Date(dependencies.clock.now()) }),
  };
}
