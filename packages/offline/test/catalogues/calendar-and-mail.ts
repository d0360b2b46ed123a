import { tool } from "../../../models/test/catalogues/tool.ts";

const email = { type: "string", format: "email" };

/** A calendar, mail and contacts. */
export const CALENDAR_AND_MAIL = [
  tool(
    "calendar_create_event",
    "Creates an event in the calendar.",
    {
      title: "string",
      date: { type: "string", format: "date" },
      "time?": "string",
      "location?": "string",
      "attendees?": { type: "array", items: email },
      "allDay?": "boolean",
    },
    ["eventId", "title", "date"],
  ),
  tool("calendar_list_events", "Lists the events of a day.", { date: { type: "string", format: "date" } }, [
    "events",
  ]),
  tool("calendar_delete_event", "Deletes an event.", { eventId: "string" }),
  tool("send_email", "Sends an e-mail.", { to: email, subject: "string", body: "string", "cc?": email }, [
    "messageId",
  ]),
  tool("search_emails", "Searches the mailbox.", { query: "string", "limit?": "integer" }, ["emails"]),
  tool("add_contact", "Adds a contact.", { name: "string", email, "phone?": "string" }, [
    "contactId",
    "name",
  ]),
  tool("create_reminder", "Creates a reminder.", { text: "string", "minutes?": "integer" }, ["id"]),
];
