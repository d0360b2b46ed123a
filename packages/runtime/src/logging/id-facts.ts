/**
 * Facts for a log line when only the id of the work is known: `requestId` or `planId`; none without an id.
 */
export function logFactsOfId(id: string | undefined): { requestId?: string; planId?: string } {
  if (id === undefined) return {};
  return id.startsWith("req_") ? { requestId: id } : { planId: id };
}
