export const SDL = "";
