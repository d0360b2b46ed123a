import { testServers } from "@planwright/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startHttpServer } from "../src/http-server.ts";
import { type BlogDatabase, openBlogDatabase } from "../src/open-blog-database.ts";
import { type BlogClient, connectOverHttp, connectOverStdio } from "./blog-client.ts";

const UNKNOWN_ID = "0123456789abcdef01234567";
const TOOLS = `
  createAuthor getAuthor updateAuthor deleteAuthor listAuthors
  createBlog getBlog updateBlog deleteBlog listBlogs
  createComment getComment deleteComment listCommentsByBlog
  createPicture getPicture deletePicture listPicturesByBlog
`
  .trim()
  .split(/\s+/);

/** A client, its database, and a function that ends both. */
interface Setting {
  blog: BlogClient;
  database: BlogDatabase;
  end(): Promise<void>;
}

async function overHttp(): Promise<Setting> {
  const database = await openBlogDatabase(testServers().mongodbUrl);
  const stopping = new AbortController();
  const http = await startHttpServer({
    database,
    onError: () => {},
    host: "127.0.0.1",
    port: 0,
    allowedHosts: [],
    stopping: stopping.signal,
  });
  const blog = await connectOverHttp(http.url);
  return {
    blog,
    database,
    end: async () => {
      await blog.close();
      stopping.abort();
      await http.close();
      await database.close();
    },
  };
}

async function overStdio(): Promise<Setting> {
  const { mongodbUrl } = testServers();
  const database = await openBlogDatabase(mongodbUrl);
  const blog = await connectOverStdio(mongodbUrl);
  return {
    blog,
    database,
    end: async () => {
      await blog.close();
      await database.close();
    },
  };
}

describe.each([
  { transport: "streamable HTTP", open: overHttp },
  { transport: "stdio", open: overStdio },
])("over $transport", ({ open }) => {
  let setting: Setting;
  let blog: BlogClient;
  let count = 0;
  const email = () => `author${count++}@example.com`;
  beforeAll(async () => {
    setting = await open();
    blog = setting.blog;
  });
  afterAll(() => setting.end());

  const author = () => blog.output("createAuthor", { name: "Alice", email: email() });
  const aBlog = async () =>
    await blog.output("createBlog", { title: "Hello", content: "world", authorId: (await author())["_id"] });

  test("18 tools are listed with schemas, annotations and contracts", async () => {
    const { tools } = await blog.client.listTools();
    expect(tools.map((tool) => tool.name)).toEqual(TOOLS);
    for (const { name, inputSchema, outputSchema, annotations, description, _meta } of tools) {
      const isRead = /^(get|list)/.test(name);
      expect(description?.length).toBeGreaterThan(10);
      expect(outputSchema?.type).toBe("object");
      expect(annotations?.readOnlyHint).toBe(isRead);
      expect(annotations?.destructiveHint).toBe(/^(update|delete)/.test(name));
      expect(annotations?.idempotentHint).toBe(!name.startsWith("create"));
      const idempotency = /^(create|delete)/.test(name) ? "key" : "natural";
      expect(_meta?.["x-orchestration"]).toMatchObject({
        mode: "parallel-safe",
        side_effects: !isRead,
        idempotency,
        ...(name.startsWith("create") ? { provides: ["_id"] } : {}),
      });
      for (const property of Object.values(inputSchema.properties ?? {})) {
        expect(property).toHaveProperty("description");
      }
    }
  });

  test.each([
    ["createAuthor", ["name", "email"]],
    ["createBlog", ["title", "content", "authorId"]],
    ["createComment", ["blogId", "authorId", "content"]],
    ["createPicture", ["blogId", "url"]],
  ])("%s requires %j", async (name, required) => {
    const { tools } = await blog.client.listTools();
    expect(tools.find((tool) => tool.name === name)?.inputSchema.required).toEqual(required);
  });

  test("an author is created, read, changed, listed and deleted", async () => {
    const created = await author();
    const authorId = created["_id"];
    expect(created).toMatchObject({ _id: expect.stringMatching(/^[0-9a-f]{24}$/), name: "Alice" });
    expect(await blog.output("getAuthor", { authorId })).toEqual(created);
    const changed = await blog.output("updateAuthor", { authorId, name: "Alicia" });
    expect(changed).toMatchObject({ _id: authorId, name: "Alicia", email: created["email"] });
    const { authors } = await blog.output("listAuthors", { limit: 100 });
    expect(authors).toContainEqual(changed);
    expect(await blog.output("deleteAuthor", { authorId })).toEqual({ _id: authorId, deleted: true });
    expect(await blog.call("getAuthor", { authorId })).toEqual({
      refusal: `There is no author with the _id ${String(authorId)}`,
    });
  });

  test("a blog is created, read, changed, listed, and deleted with its comments and pictures", async () => {
    const created = await aBlog();
    const blogId = created["_id"];
    const { authorId } = created;
    expect(await blog.output("getBlog", { blogId })).toEqual(created);
    const changed = await blog.output("updateBlog", { blogId, title: "Hi" });
    expect(changed).toMatchObject({ _id: blogId, title: "Hi", content: "world", authorId });
    expect(await blog.output("listBlogs", { authorId })).toMatchObject({
      blogs: [changed],
      nextCursor: null,
    });
    const comment = await blog.output("createComment", { blogId, authorId, content: "Great" });
    const picture = await blog.output("createPicture", { blogId, url: "https://example.com/a.png" });
    expect(await blog.output("deleteBlog", { blogId })).toEqual({ _id: blogId, deleted: true });
    expect(await blog.call("getComment", { commentId: comment["_id"] })).toHaveProperty("refusal");
    expect(await blog.call("getPicture", { pictureId: picture["_id"] })).toHaveProperty("refusal");
  });

  test("comments and pictures are created, read, listed and deleted", async () => {
    const { _id: blogId, authorId } = await aBlog();
    const comment = await blog.output("createComment", { blogId, authorId, content: "Great post" });
    expect(comment).toMatchObject({ blogId, authorId, content: "Great post" });
    expect(await blog.output("getComment", { commentId: comment["_id"] })).toEqual(comment);
    expect(await blog.output("listCommentsByBlog", { blogId })).toEqual({
      comments: [comment],
      count: 1,
      nextCursor: null,
    });
    await blog.output("deleteComment", { commentId: comment["_id"] });
    expect(await blog.output("listCommentsByBlog", { blogId })).toMatchObject({ comments: [] });

    const picture = await blog.output("createPicture", { blogId, url: "http://example.com/b", caption: "B" });
    expect(picture).toMatchObject({ blogId, url: "http://example.com/b", caption: "B" });
    expect(await blog.output("getPicture", { pictureId: picture["_id"] })).toEqual(picture);
    expect(await blog.output("listPicturesByBlog", { blogId })).toMatchObject({ pictures: [picture] });
    await blog.output("deletePicture", { pictureId: picture["_id"] });
    expect(await blog.output("listPicturesByBlog", { blogId })).toMatchObject({ pictures: [] });
  });

  test("lists continue from page to page", async () => {
    const { _id: blogId, authorId } = await aBlog();
    for (const content of ["1", "2", "3"]) await blog.output("createComment", { blogId, authorId, content });
    const seen: unknown[] = [];
    let cursor: unknown;
    do {
      const page = await blog.output("listCommentsByBlog", {
        blogId,
        limit: 2,
        ...(cursor ? { cursor } : {}),
      });
      seen.push(...(page["comments"] as { content: string }[]).map(({ content }) => content));
      cursor = page["nextCursor"];
    } while (cursor !== null);
    expect(seen).toEqual(["1", "2", "3"]);
  });

  test("a repeated idempotency key gives the first answer and makes one author", async () => {
    const args = { name: "Bob", email: email() };
    const first = await blog.output("createAuthor", args, `key-${args.email}`);
    expect(await blog.output("createAuthor", args, `key-${args.email}`)).toEqual(first);
    expect(await setting.database.authors.countDocuments({ email: args.email })).toBe(1);
  });

  test("concurrent calls with one key make one comment and get one answer", async () => {
    const { _id: blogId, authorId } = await aBlog();
    const args = { blogId, authorId, content: "once" };
    const answers = await Promise.all(
      Array.from({ length: 16 }, () => blog.output("createComment", args, `once-${String(blogId)}`)),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(await blog.output("listCommentsByBlog", { blogId })).toMatchObject({ count: 1 });
  });

  test("a key is answered with the first result even after the author was changed or deleted", async () => {
    const args = { name: "Carol", email: email() };
    const key = `carol-${args.email}`;
    const first = await blog.output("createAuthor", args, key);
    await blog.output("updateAuthor", { authorId: first["_id"], name: "Changed" });
    expect(await blog.output("createAuthor", args, key)).toEqual(first);
    await blog.output("deleteAuthor", { authorId: first["_id"] }, `${key}-delete`);
    expect(await blog.output("createAuthor", args, key)).toEqual(first);
    expect(await setting.database.authors.countDocuments({ email: args.email })).toBe(0);
    expect(await blog.output("deleteAuthor", { authorId: first["_id"] }, `${key}-delete`)).toEqual({
      _id: first["_id"],
      deleted: true,
    });
  });

  test("a key is answered with the first result even after the author of a blog was deleted", async () => {
    const { _id: authorId } = await author();
    const args = { title: "t", content: "c", authorId };
    const first = await blog.output("createBlog", args, `orphan-${String(authorId)}`);
    await blog.output("deleteAuthor", { authorId });
    expect(await blog.output("createBlog", args, `orphan-${String(authorId)}`)).toEqual(first);
    expect(await blog.call("createBlog", args, `other-${String(authorId)}`)).toHaveProperty("refusal");
  });

  test("a key can be used again after a refused call", async () => {
    const args = { title: "t", content: "c", authorId: UNKNOWN_ID };
    expect(await blog.call("createBlog", args, "free-key")).toHaveProperty("refusal");
    const { _id: authorId } = await author();
    expect(await blog.output("createBlog", { ...args, authorId }, "free-key")).toMatchObject({ authorId });
  });

  test("a key that belongs to another call does nothing, and says that the other may have acted", async () => {
    const key = `shared-${email()}`;
    await blog.output("createAuthor", { name: "A", email: email() }, key);
    const args = { name: "B", email: email() };
    await expect(blog.call("createAuthor", args, key)).rejects.toMatchObject({
      code: -32_603,
      message: expect.stringMatching("used for another call of createAuthor, which may have acted"),
    });
    expect(await setting.database.authors.countDocuments({ email: args.email })).toBe(0);
  });

  test("an email is unique, ignoring upper and lower case", async () => {
    const { _id: authorId, email: taken } = await author();
    const other = await author();
    const upper = String(taken).toUpperCase();
    expect(await blog.call("createAuthor", { name: "B", email: upper })).toEqual({
      refusal: `An author with the email ${upper} already exists`,
    });
    expect(await blog.call("updateAuthor", { authorId: other["_id"], email: upper })).toHaveProperty(
      "refusal",
    );
    expect(await blog.call("updateAuthor", { authorId, email: upper })).toMatchObject({
      output: { email: upper },
    });
  });

  test.each([
    [
      "getAuthor",
      { authorId: "nope" },
      'authorId "nope" is not a valid id: ids have 24 hexadecimal characters',
    ],
    ["getAuthor", { authorId: UNKNOWN_ID }, `There is no author with the _id ${UNKNOWN_ID}`],
    ["updateAuthor", { authorId: UNKNOWN_ID, name: "x" }, `There is no author with the _id ${UNKNOWN_ID}`],
    ["updateAuthor", { authorId: UNKNOWN_ID }, "Give at least one of name, email"],
    ["deleteAuthor", { authorId: UNKNOWN_ID }, `There is no author with the _id ${UNKNOWN_ID}`],
    [
      "createBlog",
      { title: "t", content: "c", authorId: UNKNOWN_ID },
      `There is no author with the _id ${UNKNOWN_ID}`,
    ],
    ["createBlog", { title: "t", content: "c", authorId: { $ne: 1 } }, /authorId/],
    ["listBlogs", { authorId: UNKNOWN_ID }, `There is no author with the _id ${UNKNOWN_ID}`],
    ["listBlogs", { cursor: "x" }, "The cursor is not one that this list gave"],
    [
      "createComment",
      { blogId: UNKNOWN_ID, authorId: UNKNOWN_ID, content: "c" },
      `There is no blog with the _id ${UNKNOWN_ID}`,
    ],
    ["listCommentsByBlog", { blogId: UNKNOWN_ID }, `There is no blog with the _id ${UNKNOWN_ID}`],
    [
      "createPicture",
      { blogId: UNKNOWN_ID, url: "https://x.y" },
      `There is no blog with the _id ${UNKNOWN_ID}`,
    ],
    ["createPicture", { blogId: UNKNOWN_ID, url: "javascript:alert(1)" }, /must start with http/],
    ["deletePicture", { pictureId: "" }, /pictureId/],
    ["createAuthor", { name: "n" }, /email/],
    ["createAuthor", { name: "n".repeat(201), email: "a@b.c" }, /name.*200/],
    ["createAuthor", { name: "   ", email: "a@b.c" }, /blank/],
    ["createAuthor", { name: "n", email: "not an address" }, /must be an email address/],
    ["createAuthor", { name: "n", email: "a@b.c", admin: true }, /admin/],
  ])("%s %j is refused with a clear text", async (tool, args, text) => {
    expect(await blog.call(tool, args)).toEqual({ refusal: expect.stringMatching(text) });
  });

  test("a refusal carries the mark that nothing happened", async () => {
    const refused = await blog.client.callTool({ name: "getAuthor", arguments: { authorId: UNKNOWN_ID } });
    expect(refused).toMatchObject({ isError: true, _meta: { "dev.planwright/effect": "none" } });
  });

  test("an idempotency key that is not a short text is refused", async () => {
    const args = { name: "n", email: email() };
    expect(await blog.call("createAuthor", args, "k".repeat(513))).toEqual({
      refusal: "The idempotency key must be a text of 1 to 512 characters",
    });
  });

  test("a tool that does not exist is a protocol error", async () => {
    await expect(blog.call("dropDatabase", {})).rejects.toMatchObject({ code: -32_602 });
  });
});
