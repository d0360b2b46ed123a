/** A message as it was sent to a model, for the record of the call. */
export interface SentMessage {
  role: "system" | "user" | "assistant";
  content: string;
}
