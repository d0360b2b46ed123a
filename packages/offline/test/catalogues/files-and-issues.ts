import { tool } from "../../../models/test/catalogues/tool.ts";

const priority = { type: "string", enum: ["low", "medium", "high"] };
const labels = { type: "array", items: { type: "string" } };

/** Files and an issue tracker, named in snake case as many servers do. */
export const FILES_AND_ISSUES = [
  tool("read_file", "Read the complete contents of a file.", { path: "string" }, ["content"]),
  tool("write_file", "Create a new file or overwrite one.", { path: "string", content: "string" }, ["path"]),
  tool("move_file", "Move or rename a file.", { source: "string", destination: "string" }),
  tool("list_directory", "List what a directory holds.", { path: "string" }, ["entries"]),
  tool("search_files", "Search for files by a pattern.", { pattern: "string", "path?": "string" }, [
    "matches",
  ]),
  tool(
    "create_issue",
    "Open a new issue.",
    { title: "string", body: "string", "labels?": labels, "priority?": priority, "assignee?": "string" },
    ["number", "url"],
  ),
  tool("get_issue", "Get one issue.", { issue_number: "integer" }, ["number", "title", "body"]),
  tool("close_issue", "Close an issue.", { issue_number: "integer", "reason?": "string" }, ["number"]),
  tool("list_issues", "List the issues.", { "state?": { type: "string", enum: ["open", "closed"] } }, [
    "issues",
  ]),
  tool("add_issue_comment", "Add a comment to an issue.", { issue_number: "integer", body: "string" }, [
    "id",
  ]),
];
