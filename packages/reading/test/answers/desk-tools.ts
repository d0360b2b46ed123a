import type { JsonObject, ToolDescriptor } from "@planwright/plan";

const text = { type: "string" };
const object = (properties: JsonObject, required: string[] = []): JsonObject => ({
  type: "object",
  properties,
  required,
});

/** Tools of a help desk and a calendar, with optional arguments, lists and outputs with several fields. */
export const DESK_TOOLS: readonly ToolDescriptor[] = [
  {
    name: "searchTickets",
    annotations: { readOnlyHint: true },
    inputSchema: object({ status: { enum: ["open", "closed"] }, limit: { type: "integer" }, text }),
    outputSchema: object({
      tickets: { type: "array", items: object({ _id: text, title: text, email: text }) },
      total: { type: "integer" },
    }),
  },
  {
    name: "closeTicket",
    inputSchema: object(
      { ticketId: text, note: text, options: object({ notify: { type: "boolean" }, label: text }) },
      ["ticketId"],
    ),
    outputSchema: object({ _id: text, status: text }),
  },
  {
    name: "createEvent",
    inputSchema: object(
      {
        title: text,
        start: text,
        description: text,
        attendees: { type: "array", items: text },
        place: { type: ["string", "null"] },
      },
      ["title", "start"],
    ),
    outputSchema: object({ _id: text, url: text, result: text }),
  },
];
