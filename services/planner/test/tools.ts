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

/** Two tools, one of which needs what the other makes. */
export const TOOLS: ToolDescriptor[] = [
  tool("createFolder", "Creates a folder.", ["name"], ["_id", "name"]),
  tool("createNote", "Creates a note in a folder.", ["title", "folderId"], ["_id", "title"]),
];

/** A sentence over them that the rules understand. */
export const SENTENCE = "Create folder Work, then create note titled Hello";

/** Its plan, as a model would answer it. */
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
