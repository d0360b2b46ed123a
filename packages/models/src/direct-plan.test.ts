import type { JsonObject, ToolDescriptor } from "@planwright/plan";
import { expect, test } from "vitest";
import { isCompleteAnswer } from "./direct-calls.ts";

const tool = (name: string, description: string, properties: JsonObject): ToolDescriptor => ({
  name,
  description,
  inputSchema: { type: "object", properties },
});
const weather = tool("get_weather", "Returns the current weather in a city.", { city: { type: "string" } });
const read = tool("read_file", "Reads a file.", { path: { type: "string" } });
const mail = tool("send_email", "Sends an email.", {
  to: { type: "string" },
  body: { type: "string" },
  priority: { enum: ["high", "low"] },
  urgent: { type: "boolean" },
});
const heat = tool("set_temperature", "Sets the temperature of a room to degrees.", {
  degrees: { type: "number" },
});
const call = (called: ToolDescriptor, args: JsonObject) => ({ tool: called, arguments: args });

test.each([
  ["What is the weather in Oslo?", [call(weather, { city: "Oslo" })]],
  ["Show me the current weather in oslo", [call(weather, { city: "Oslo" })]],
  ["weather in Oslo and Rome", [call(weather, { city: "Oslo" }), call(weather, { city: "Rome" })]],
  [
    "Mail bob@x.io 'Lunch at noon' with high priority",
    [call(mail, { to: "bob@x.io", body: "Lunch at noon", priority: "high" })],
  ],
  ["Set the temperature to -5 degrees", [call(heat, { degrees: -5 })]],
  ["Set the temperature to 5.5, please", [call(heat, { degrees: 5.5 })]],
  ["Send urgent email to bob@x.io saying Hi", [call(mail, { to: "bob@x.io", body: "Hi", urgent: true })]],
])("%s: the complete answer, from words of the request", (query, calls) => {
  const describedMail = tool(
    "send_email",
    "Sends an email saying something.",
    mail.inputSchema?.["properties"] as JsonObject,
  );
  const described = calls.map((each) => (each.tool === mail ? { ...each, tool: describedMail } : each));
  expect(isCompleteAnswer(query, described)).toBe(true);
});

test.each([
  ["no call", "What is the weather in Oslo?", []],
  ["the first call of several", "Summarize /notes/june.md", [call(read, { path: "/notes/june.md" })]],
  ["one of two", "Email bob@x.io the weather in Oslo", [call(weather, { city: "Oslo" })]],
  [
    "a value that the user did not say",
    "Send email to bob@x.io",
    [call(mail, { to: "bob@x.io", body: "Hello Bob" })],
  ],
  ["a value that is part of another word", "weather in Oslofjord", [call(weather, { city: "Oslo" })]],
  [
    "a choice that the user did not make",
    "Send email to bob@x.io",
    [call(mail, { to: "bob@x.io", priority: "high" })],
  ],
  [
    "a true that the user did not say",
    "Send email to bob@x.io",
    [call(mail, { to: "bob@x.io", urgent: true })],
  ],
  [
    "a request in words that are not in any tool",
    "Wie ist das Wetter in Oslo",
    [call(weather, { city: "Oslo" })],
  ],
  ["a number without its sign", "Set the temperature to -5 degrees", [call(heat, { degrees: 5 })]],
  ["a number with another sign", "Set the temperature to 5 degrees", [call(heat, { degrees: -5 })]],
  ["a part of a number", "Set the temperature to 5.5 degrees", [call(heat, { degrees: 5 })]],
  ["three calls", "weather in a, b, c", ["a", "b", "c"].map((city) => call(weather, { city }))],
])("%s: not the complete answer", (_, query, calls) => {
  expect(isCompleteAnswer(query, calls)).toBe(false);
});
