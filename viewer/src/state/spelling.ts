/**
 * How many slips lie between two spellings: a letter too many, too few, another one, or two
 * neighbours exchanged ("optimal string alignment").
 *
 *     d(i, j) = min(d(i-1, j) + 1, d(i, j-1) + 1, d(i-1, j-1) + [a_i != b_j],
 *                   d(i-2, j-2) + 1  where a_i = b_{j-1} and a_{i-1} = b_j)
 */

// The rows i, i-1 and i-2 of d; a word that is close to a query is hardly longer.
const row = (length: number) => new Uint8Array(length);
let rows: [Uint8Array, Uint8Array, Uint8Array] = [row(64), row(64), row(64)];

/** The slips between a word and the part of a text from `start` to `end`; more than `most` are `most + 1`. */
export function slipsBetween(
  word: string,
  text: string,
  start: number,
  end: number,
  most: number,
): number {
  const length = end - start;
  if (Math.abs(length - word.length) > most) return most + 1;
  if (length >= rows[0].length) rows = [row(2 * length), row(2 * length), row(2 * length)];
  let [now, before, earlier] = rows;
  for (let j = 0; j <= length; j++) now[j] = Math.min(j, 255);
  for (let i = 1; i <= word.length; i++) {
    [now, before, earlier] = [earlier, now, before];
    now[0] = Math.min(i, 255);
    let least = now[0];
    const letter = word.charCodeAt(i - 1);
    for (let j = 1; j <= length; j++) {
      const other = text.charCodeAt(start + j - 1);
      let slips = Math.min(
        before[j] + 1,
        now[j - 1] + 1,
        before[j - 1] + (letter === other ? 0 : 1),
      );
      const isSwap =
        i > 1 &&
        j > 1 &&
        letter === text.charCodeAt(start + j - 2) &&
        word.charCodeAt(i - 2) === other;
      if (isSwap) slips = Math.min(slips, earlier[j - 2] + 1);
      now[j] = Math.min(slips, 255);
      if (slips < least) least = slips;
    }
    if (least > most) return most + 1;
  }
  return Math.min(now[length], most + 1);
}
