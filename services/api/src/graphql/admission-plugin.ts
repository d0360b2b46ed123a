import type { ApolloServerPlugin } from "@apollo/server";
import { type DocumentNode, type OperationTypeNode, visit } from "graphql";
import { OverloadedError } from "../errors/service-errors.ts";
import type { Admission } from "../load/admission.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { refusalOf } from "./refusal.ts";

/** Mutations that make new plans. */
const MAKES_PLANS: ReadonlySet<string> = new Set([
  "createPlan",
  "submitPlan",
  "createPlanWithRequestId",
  "createPlanWithWorkflow",
  "rerun",
  "replan",
  "amendPlan",
]);

/**
 * Admits operations, or refuses them with status 503 before any part of them runs, so a client can safely
 * repeat a refused mutation. A query may wait for its slot.
 */
export function createAdmissionPlugin(admission: Admission): ApolloServerPlugin<GraphqlContext> {
  /**
   * Operations that have ended. Apollo runs all checks at the same time: one may refuse a query that still
   * waits for its slot.
   */
  const ended = new WeakSet<GraphqlContext>();

  async function admit(document: DocumentNode, type: OperationTypeNode, context: GraphqlContext) {
    if (type === "query") {
      context.releaseSlot = await admission.enterQuery(context);
      return;
    }
    context.releaseSlot = admission.enter();
    context.reservePlan = () => admission.reserve(context.tenant);
    if (makesPlans(document)) await context.reservePlan();
  }

  function end(context: GraphqlContext): void {
    ended.add(context);
    context.releaseSlot?.();
  }

  return {
    // Such an operation ends without a response, so willSendResponse is not called.
    async unexpectedErrorProcessingRequest({ requestContext }) {
      end(requestContext.contextValue);
    },
    async requestDidStart() {
      return {
        async didResolveOperation({ operation, document, contextValue }) {
          if (!operation) return;
          try {
            await admit(document, operation.operation, contextValue);
            if (ended.has(contextValue)) contextValue.releaseSlot?.();
          } catch (error) {
            if (error instanceof OverloadedError) throw refusalOf(error);
            throw error;
          }
        },
        async willSendResponse({ contextValue }) {
          end(contextValue);
        },
      };
    },
  };
}

/** Compares names in the complete document with its fragments: no other type has fields with these names. */
function makesPlans(document: DocumentNode): boolean {
  let isFound = false;
  visit(document, {
    Field({ name }) {
      isFound ||= MAKES_PLANS.has(name.value);
    },
  });
  return isFound;
}
