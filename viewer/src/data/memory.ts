/** Results that are kept, so that they are computed once. */

/** The value of a key, computed where it is not known yet. */
export function once<K, V>(known: Map<K, V>, key: K, compute: () => V): V {
  let value = known.get(key);
  if (value === undefined) {
    value = compute();
    known.set(key, value);
  }
  return value;
}

/** The function, which returns its latest result again for the same arguments. */
export function latest<A extends unknown[], T>(compute: (...from: A) => T) {
  let known: { from: A; value: T } | null = null;
  return (...from: A): T => {
    if (known === null || from.some((part, k) => !Object.is(part, known?.from[k]))) {
      known = { from, value: compute(...from) };
    }
    return known.value;
  };
}
