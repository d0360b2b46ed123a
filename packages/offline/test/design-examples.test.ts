import { expect, test } from "vitest";
import { BLOG } from "../../models/test/catalogues/blog.ts";
import { planByRules } from "../src/index.ts";
import { WEATHER } from "./catalogues/weather.ts";

test("example 1: the blog's author is the author made before", () => {
  const query =
    "Create author Alice with email alice@test.com, then create blog by Alice titled Hello about world";
  expect(planByRules(query, BLOG).steps).toEqual([
    { id: "createAuthor", tool: "createAuthor", arguments: { name: "Alice", email: "alice@test.com" } },
    {
      id: "createBlog",
      tool: "createBlog",
      arguments: { title: "Hello", content: "world", authorId: "<<createAuthor._id>>" },
    },
  ]);
});

test("example 2: the comment refers to the blog and to its author", () => {
  const query =
    "Create author Charlie with email c@test.com, create blog by Charlie about Kubernetes, then add a comment to that blog saying Great post";
  expect(planByRules(query, BLOG).steps).toEqual([
    { id: "createAuthor", tool: "createAuthor", arguments: { name: "Charlie", email: "c@test.com" } },
    {
      id: "createBlog",
      tool: "createBlog",
      arguments: { title: "Kubernetes", content: "Kubernetes", authorId: "<<createAuthor._id>>" },
    },
    {
      id: "createComment",
      tool: "createComment",
      arguments: {
        blogId: "<<createBlog._id>>",
        authorId: "<<createAuthor._id>>",
        content: "Great post",
      },
    },
  ]);
});

test("example 3: two authors are made at once, and the blog is Alice's", () => {
  const query =
    "Create authors Alice with email alice@test.com and Bob with email bob@test.com, then create blog by Alice titled Hi about code";
  expect(planByRules(query, BLOG).steps).toEqual([
    { id: "createAuthor", tool: "createAuthor", arguments: { name: "Alice", email: "alice@test.com" } },
    { id: "createAuthor2", tool: "createAuthor", arguments: { name: "Bob", email: "bob@test.com" } },
    {
      id: "createBlog",
      tool: "createBlog",
      arguments: { title: "Hi", content: "code", authorId: "<<createAuthor._id>>" },
    },
  ]);
});

test("example 4: the weather of three cities at once, then one summary over all of them", () => {
  const query = "Get the weather for Tokyo, London and Paris, then summarize the results";
  const { steps } = planByRules(query, WEATHER);
  expect(steps.map(({ tool, arguments: given }) => ({ tool, ...given }))).toEqual([
    { tool: "getWeather", city: "Tokyo" },
    { tool: "getWeather", city: "London" },
    { tool: "getWeather", city: "Paris" },
    { tool: "summarize", text: "<<getWeather>>\n<<getWeather2>>\n<<getWeather3>>" },
  ]);
});
