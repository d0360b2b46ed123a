import {
  catalogueOfPlan,
  createPlanId,
  createToolIndex,
  isTerminalPlanStatus,
  pinsByTool,
  pinTools,
} from "@planwright/plan";
import type { ClientSession } from "mongodb";
import type { RequestDocument } from "../documents.ts";
import { stepDocuments } from "../journal/plan-units.ts";
import { readInSession } from "../journal/read-in-session.ts";
import { newPlan } from "../new-documents.ts";
import { NOTHING_PARKED } from "../planning/parked-for.ts";
import type { ClientStore, RerunAnswer } from "../store.ts";
import { readCatalogue } from "../tool-catalogue.ts";
import { dependentsOf } from "../versions/dependents-of.ts";
import { insertVersion } from "../versions/insert-version.ts";
import { askForRepeats } from "./ask-for-repeats.ts";
import { carriedUnits, stepsToRerun, unitsInDoubt } from "./carry-over.ts";
import { changeArguments, refusedChange } from "./change-arguments.ts";
import { changeOnce } from "./change-once.ts";
import type { ClientContext } from "./context.ts";
import { isOtherVersion } from "./is-other-version.ts";

/** The part of the store that runs plans again, as new versions. */
export function createRerun(context: ClientContext): Pick<ClientStore, "rerunPlan"> {
  const { collections, clock, randomBytes } = context;
  const { requests, plans } = collections;

  return {
    async rerunPlan(
      tenant,
      requestId,
      { from, fromVersion, autoExecute, by = "api", changes = [], idempotency },
    ): Promise<RerunAnswer> {
      const index = createToolIndex(await readCatalogue(collections));
      // Two reruns at once write to the same request: one of them begins anew, and finds a plan that is not over.
      const change = async (session: ClientSession): Promise<RerunAnswer> => {
        const request = await requests.findOne({ _id: requestId, tenant }, { session });
        if (!request) return { type: "unknown" };
        if (isOtherVersion(request, fromVersion)) return { type: "other version", request };
        if (request.status === "PLANNING") return { type: "no plan", request };
        const old = await plans.findOne({ _id: request.planId, tenant }, { session });
        if (!old) return { type: "no plan", request };
        if (old.plan === null || old.status === "INVALID") return { type: "invalid", request, plan: old };
        if (!isTerminalPlanStatus(old.status)) return { type: "not over", plan: old };
        if (from !== null && !old.plan.steps.some(({ id }) => id === from))
          return { type: "unknown step", stepId: from };
        const read = await readInSession(collections, old, session);
        const units = stepDocuments(read);
        const tools = catalogueOfPlan(old.plan, index, pinsByTool(old.toolPins));
        const changed =
          changes.length === 0
            ? { ok: true as const, plan: old.plan, diagnostics: [] }
            : changeArguments(old.plan, changes, { tools, request: request.query ?? undefined });
        const plan = changed.ok ? changed.plan : old.plan;
        const resolutions = read.plan?.resolutions ?? [];
        const facts = { plan, units, resolutions, dependents: dependentsOf(plan, tools), from };
        const toRerun = stepsToRerun(facts);
        const { again } = toRerun;
        const refusal = refusedChange(plan, facts, changes);
        if (refusal && refusal.type !== "may have acted") return refusal;
        if (again.size === 0 || (from === null && old.status === "COMPLETED"))
          return { type: "nothing failed" };
        const keys = unitsInDoubt(units, toRerun);
        if (keys.length > 0) return { type: "in doubt", keys };
        if (refusal) return refusal;
        if (!changed.ok) return { type: "invalid arguments", plan: old, diagnostics: changed.diagnostics };

        const now = new Date(clock.now());
        const next: RequestDocument = {
          ...request,
          planId: createPlanId(now.getTime(), randomBytes),
          version: request.version + 1,
          status: autoExecute ? "EXECUTING" : "READY",
          autoExecute,
          planning: { ...request.planning, lease: null, dueAt: null, work: null },
          replan: null,
          error: null,
          answer: null,
          answerError: null,
          updatedAt: now,
        };
        // What has changed since is part of the new version: the caller wants its tools as they are now.
        const toolPins = pinTools(plan, index.tools, old.toolPins);
        const asking = askForRepeats(plan, units, toRerun, tools);
        const { raw, origin } = old;
        const diagnostics = [...old.diagnostics, ...changed.diagnostics];
        const status = autoExecute ? "QUEUED" : "READY";
        const fresh = newPlan({
          request: next,
          plan: asking,
          toolPins,
          raw,
          origin,
          diagnostics,
          status,
          now,
        });
        const carried = carriedUnits(fresh, facts, toRerun);
        await moveOn(next, session);
        const told = { by: { kind: "api" as const, id: by }, afterSeq: read.seq, before: old };
        const stored = await insertVersion(context, fresh, carried, { ...told, session });
        return { type: "rerun", request: next, plan: stored };
      };
      const changed = ({ type }: RerunAnswer) => (type === "rerun" ? requestId : undefined);
      return changeOnce(context, { tenant, operation: "rerun", idempotency, change, changed });
    },
  };

  async function moveOn(next: RequestDocument, session: ClientSession): Promise<void> {
    const { _id, planId, version, status, autoExecute, updatedAt } = next;
    await requests.updateOne(
      { _id },
      { $set: { ...NOTHING_PARKED, planId, version, status, autoExecute, updatedAt } },
      { session },
    );
  }
}
