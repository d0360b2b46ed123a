/** The tenant of all plans of a world. */
export const TENANT = "t1";
