/** A page of a list; `cursor` goes on after the last one, null at the end. */
export interface Page<T> {
  items: T[];
  cursor: string | null;
}
