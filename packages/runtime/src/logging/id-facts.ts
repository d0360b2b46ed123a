/**
 * Facts for a log line about work of which only the id is known: `requestId` or `planId`; nothing without an
 * id.
 */
export function logFactsOfId(id: string | undefined): { requestId?: string; planId?: string } {
  if (id === undefined) return {};
  return id.startsWith("req_") ? { requestId: id } : { planId: id };
}
