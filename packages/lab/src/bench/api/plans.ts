import { type Plan, parsePlan, type ToolDescriptor } from "@planwright/plan";
import type { PlanClaim, Store } from "@planwright/store";

/** Tenant of all requests without a credential. */
export const TENANT = "default";

const text = { type: "string" } as const;

/** The two tools of the plans that are submitted. */
export const BLOG_TOOLS: ToolDescriptor[] = [
  tool("createAuthor", { name: text, email: text }),
  tool("createBlog", { title: text, content: text, authorId: text }),
];

function tool(name: string, properties: Record<string, { type: "string" }>): ToolDescriptor {
  const inputSchema = { type: "object", properties, required: Object.keys(properties) };
  return { name, server: "blog", title: name, description: `Does ${name}`, inputSchema };
}

/** A plan of two steps as a client submits it; each index gives a different plan. */
export const blogPlan = (index: number) => ({
  steps: [
    {
      id: "createAuthor",
      tool: "createAuthor",
      arguments: { name: "Alice", email: `alice${index}@test.com` },
    },
    {
      id: "createBlog",
      tool: "createBlog",
      arguments: { title: "Hello", content: "world", authorId: "<<createAuthor._id>>" },
    },
  ],
});

/** Stores a plan of this many independent steps and claims it for the caller. */
export async function storedPlan(
  store: Store,
  steps: number,
  tenant = TENANT,
): Promise<{ requestId: string; claim: PlanClaim }> {
  const { request, plan } = await store.submitPlan({
    tenant,
    query: null,
    plan: await planOf(store, steps),
    raw: "",
    diagnostics: [],
    autoExecute: false,
  });
  await store.queuePlan(tenant, plan._id, request._id);
  for (;;) {
    // The plan becomes due by MongoDB's clock, which may be slightly late.
    const claim = await store.claimPlan(plan._id, "bench");
    if (claim) return { requestId: request._id, claim };
  }
}

async function planOf(store: Store, steps: number): Promise<Plan> {
  const document = {
    steps: Array.from({ length: steps }, (_, index) => ({
      id: `s${index}`,
      tool: "createAuthor",
      arguments: { name: "Alice", email: `alice${index}@test.com` },
    })),
  };
  const parsed = parsePlan(document, { tools: await store.toolCatalogue() });
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  return parsed.plan;
}
