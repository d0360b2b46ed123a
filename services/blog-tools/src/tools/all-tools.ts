import { authorTools } from "./author-tools.ts";
import type { BlogTool } from "./blog-tool.ts";
import { blogTools } from "./blog-tools.ts";
import { commentTools } from "./comment-tools.ts";
import { pictureTools } from "./picture-tools.ts";

/** The 18 tools, in the order in which they are listed. */
export const allTools: readonly BlogTool[] = [...authorTools, ...blogTools, ...commentTools, ...pictureTools];
