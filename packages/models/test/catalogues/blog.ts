import { tool } from "./tool.ts";

const email = { type: "string", format: "email" };
const authors = ["_id", "name", "email"];
const blogs = ["_id", "title", "content", "authorId"];
const comments = ["_id", "blogId", "authorId", "content"];
const pictures = ["_id", "blogId", "url", "caption"];

/** A blog: only `<thing>Id` parameters and output schemas show the dependencies. */
export const BLOG = [
  tool("createAuthor", "Creates an author.", { name: "string", email, "bio?": "string" }, authors),
  tool("getAuthor", "Returns one author.", { id: "string" }, authors),
  tool("updateAuthor", "Changes an author.", { id: "string", "name?": "string", "email?": email }, authors),
  tool("deleteAuthor", "Deletes an author.", { id: "string" }, ["deleted"]),
  tool("listAuthors", "Lists authors.", { "limit?": "integer" }, ["authors"]),
  tool(
    "createBlog",
    "Creates a blog post by an author.",
    {
      title: "string",
      content: "string",
      authorId: "string",
      "tags?": { type: "array", items: { type: "string" } },
    },
    blogs,
  ),
  tool("getBlog", "Returns one blog post.", { id: "string" }, blogs),
  tool(
    "updateBlog",
    "Changes a blog post.",
    { id: "string", "title?": "string", "content?": "string" },
    blogs,
  ),
  tool("deleteBlog", "Deletes a blog post.", { id: "string" }, ["deleted"]),
  tool("listBlogs", "Lists blog posts.", { "limit?": "integer" }, ["blogs"]),
  tool(
    "createComment",
    "Adds a comment to a blog post.",
    { blogId: "string", authorId: "string", content: "string" },
    comments,
  ),
  tool("getComment", "Returns one comment.", { id: "string" }, comments),
  tool("deleteComment", "Deletes a comment.", { id: "string" }, ["deleted"]),
  tool("listCommentsByBlog", "Lists the comments of a blog post.", { blogId: "string" }, ["comments"]),
  tool(
    "createPicture",
    "Adds a picture to a blog post.",
    { blogId: "string", url: { type: "string", format: "uri" }, "caption?": "string" },
    pictures,
  ),
  tool("getPicture", "Returns one picture.", { id: "string" }, pictures),
  tool("deletePicture", "Deletes a picture.", { id: "string" }, ["deleted"]),
  tool("listPicturesByBlog", "Lists the pictures of a blog post.", { blogId: "string" }, ["pictures"]),
];
