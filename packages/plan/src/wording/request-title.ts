/** Most tools that a title names. */
const MAX_NAMED = 4;

/**
 * The name of a request for people, in lists and headings: its sentence, or the tools of its plan in plan order,
 * such as "searchItems → reserveStock". Repeats in a row are named once; more than four tools end with "→ …".
 * @param query - the sentence; null for a plan that was submitted without one
 * @param tools - the tool of each step
 */
export function requestTitle(query: string | null, tools: readonly string[]): string {
  if (query !== null) return query;
  const named = tools.filter((tool, index) => tool !== tools[index - 1]);
  if (named.length === 0) return "a plan without readable steps";
  return [...named.slice(0, MAX_NAMED), ...(named.length > MAX_NAMED ? ["…"] : [])].join(" → ");
}
