/** To whom all plans of a world belong. */
export const TENANT = "t1";
