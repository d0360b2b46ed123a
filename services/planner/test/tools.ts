import type { JsonObject, ToolDescriptor } from "@planwright/plan";

const text: JsonObject = { type: "string" };
const tool = (name: string, description: string, fields: string[], outputs: string[]): ToolDescriptor => ({
  name,
  description,
  server: "notes",
  inputSchema: {
    type: "object",
    properties: Object.fromEntries(fields.map((field) => [field, text])),
    required: fields,
    additionalProperties: false,
  },
  outputSchema: {
    type: "object",
    properties: Object.fromEntries(outputs.map((field) => [field, text])),
    required: outputs,
  },
});

/** Two tools, one of which needs the output of the other. */
export const TOOLS: ToolDescriptor[] = [
  tool("createFolder", "Creates a folder.", ["name"], ["_id", "name"]),
  tool("createNote", "Creates a note in a folder.", ["title", "folderId"], ["_id", "title"]),
];

/** A sentence about them that the offline drafter understands. */
export const SENTENCE = "Create folder Work, then create note titled Hello";

/** Its plan, in the form of a model's answer. */
export const ANSWER: JsonObject = {
  steps: [
    { id: "createFolder", tool: "createFolder", arguments: { name: "Work" } },
    {
      id: "createNote",
      tool: "createNote",
      arguments: { title: "Hello", folderId: "<<createFolder._id>>" },
    },
  ],
};
