import type { ToolDescriptor } from "@planwright/plan";

/**
 * Gives the array of the time before back while nothing in the catalogue has changed, so that what was made from that array, such as a
 * search index, is made once and not for every request.
 */
export function createSameCatalogue(): (tools: ToolDescriptor[]) => ToolDescriptor[] {
  let kept: ToolDescriptor[] = [];
  let keptText = "[]";
  return (tools) => {
    const text = JSON.stringify(tools);
    if (text !== keptText) [kept, keptText] = [tools, text];
    return kept;
  };
}
