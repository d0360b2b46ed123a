import type { JournalEntry, JournalEvent } from "@planwright/engine";

/** An entry without outputs, arguments and data of errors; their sizes are kept. Pure. */
export function withoutEventValues(entry: JournalEntry): JournalEntry {
  return { ...entry, events: entry.events.map(withoutValue) };
}

function withoutValue(event: JournalEvent): JournalEvent {
  switch (event.type) {
    case "attempt.started":
      return { ...event, arguments: sizeOnly(event.arguments) };
    case "attempt.ended":
      return event.error?.data === undefined ? event : { ...event, error: withoutData(event.error) };
    case "step.changed": {
      const { output: _, outputText: __, error, toApprove, ...kept } = event;
      return {
        ...kept,
        ...(error && { error: withoutData(error) }),
        ...(toApprove && { toApprove: { ...toApprove, arguments: sizeOnly(toApprove.arguments) } }),
      };
    }
    case "plan.ended":
      return { ...event, outputs: null, error: event.error && withoutData(event.error) };
    default:
      return event;
  }
}

function sizeOnly({ sizeBytes }: { sizeBytes: number }): { sizeBytes: number } {
  return { sizeBytes };
}

function withoutData<WithData extends { data?: unknown }>(error: WithData): Omit<WithData, "data"> {
  const { data: _, ...kept } = error;
  return kept;
}
