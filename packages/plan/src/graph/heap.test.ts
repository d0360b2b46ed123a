import fc from "fast-check";
import { expect, test } from "vitest";
import { Heap, smallerFirst } from "./edges.ts";

test("elements come out in order, in whatever order they were pushed", () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), (numbers) => {
      const heap = new Heap(smallerFirst);
      for (const number of numbers) heap.push(number);
      expect(heap.size).toBe(numbers.length);
      const out = numbers.map(() => heap.pop());
      expect(out).toEqual(numbers.toSorted((a, b) => a - b));
      expect(heap.pop()).toBeUndefined();
    }),
  );
});

test("peek returns the first element and keeps it", () => {
  const heap = new Heap(smallerFirst);
  expect(heap.peek()).toBeUndefined();
  heap.push(2);
  heap.push(1);
  expect([heap.peek(), heap.size]).toEqual([1, 2]);
});
