/** A page of a list; `cursor` continues after its last item, null at the end. */
export interface Page<T> {
  items: T[];
  cursor: string | null;
}
