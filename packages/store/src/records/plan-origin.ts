/** The author of a plan. */
export interface PlanOrigin {
  kind: "model" | "offline" | "submitted";
  /** Name of the model, such as "openai:gpt-4o"; null without one. */
  model: string | null;
}
