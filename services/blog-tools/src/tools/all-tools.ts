import type { Tool } from "@planwright/tool-kit";
import type { BlogDatabase } from "../database/open-blog-database.ts";
import { authorTools } from "./author-tools.ts";
import { blogTools } from "./blog-tools.ts";
import { commentTools } from "./comment-tools.ts";
import { pictureTools } from "./picture-tools.ts";

/** The 18 tools, in the order in which they are listed. */
export function allTools(database: BlogDatabase): Tool[] {
  return [authorTools, blogTools, commentTools, pictureTools].flatMap((tools) => tools(database));
}
