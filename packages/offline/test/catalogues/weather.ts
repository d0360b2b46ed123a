import { tool } from "../../../models/test/catalogues/tool.ts";

/** Weather and a summary: many calls at once, then one over all of them. */
export const WEATHER = [
  tool(
    "getWeather",
    "Gets the current weather of a city.",
    { city: "string", "unit?": { type: "string", enum: ["celsius", "fahrenheit"] } },
    ["city", "temperature", "conditions"],
  ),
  tool("getForecast", "Gets the forecast for a city.", { city: "string", days: "integer" }, ["days"]),
  tool("summarize", "Summarizes a text.", { text: "string" }, ["summary"]),
  tool("translate", "Translates a text.", { text: "string", language: "string" }, ["translation"]),
];
