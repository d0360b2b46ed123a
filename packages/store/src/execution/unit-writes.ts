import type { StoreDependencies } from "../journal/dependencies.ts";
import { createRepeats, readPlans, versionsOf } from "../versions/earlier-calls.ts";
import type { ExecutionStore } from "./execution-store.ts";
import { readStoredOutputs } from "./stored-outputs.ts";
import { intentEvents, recordEvents, recordEventsNow } from "./turns.ts";
import { updatePlanSummary } from "./update-plan-summary.ts";

/**
 * The part of the store that writes intents and results: each is an entry of the request's journal, or part
 * of one.
 */
export function createUnitWrites(
  context: StoreDependencies,
): Pick<
  ExecutionStore,
  | "writeIntents"
  | "noteIntents"
  | "noteRecords"
  | "writeNoted"
  | "writeRecords"
  | "readStoredOutputs"
  | "readRepeats"
> {
  return {
    writeIntents: ({ journal }, intents, ends = []) => journal.append(intentEvents(context, intents, ends)),

    noteIntents: ({ journal }, intents, ends = []) => journal.note(intentEvents(context, intents, ends)),

    noteRecords({ journal }, records, ends) {
      const noted = recordEventsNow({ records, ends });
      if (noted) journal.note(noted.events);
      return noted?.sizes;
    },

    writeNoted: ({ journal }) => journal.append([]),

    async writeRecords(claim, records, ends) {
      const recorded = recordEvents(context, claim, { records, ends });
      // No `await` for events that are there already: it would let an intent of the same turn come before
      // them.
      const { events, sizes } = recorded instanceof Promise ? await recorded : recorded;
      await claim.journal.append(events);
      await updatePlanSummary(context, claim, records);
      return sizes;
    },

    readStoredOutputs: (claim, keys) => readStoredOutputs(context, claim, keys),

    async readRepeats({ plan, journal }) {
      const state = journal.request();
      if (state.plans.size < 2) return undefined;
      const versions = versionsOf(await readPlans(context.collections, plan), state);
      const [now, ...earlier] = versions.filter(({ folded }) => folded.version <= plan.version);
      return now?._id === plan._id && earlier.length > 0 ? createRepeats(now, earlier) : undefined;
    },
  };
}
