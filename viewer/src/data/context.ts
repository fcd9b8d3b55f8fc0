/**
 * Which meaning of a word other words point to (`manymaps.atlas.context`).
 *
 *     p(c|z)    = sum_j p_j a_jz q(c|j) / p(z),    q(c|c) = 1,    p(z) = sum_j p_j a_jz
 *     p(z|C) ~ p(z) prod_c [(1 - e) p(c|z) / p(c) + e]
 *
 * over the fine senses z of the associates j of the word, with the shares p_j. The probability of a
 * meaning is the sum over its fine senses.
 */
import type { Observed } from "./atlas.ts";
import { elementAt } from "./elements.ts";
import type { Probabilities } from "./probabilities.ts";

/** The probability that a context word is unrelated to the word: IRRELEVANT of `manymaps.atlas.context`. */
const IRRELEVANT = 0.1;

/** The probability of each meaning, by its number among those of the word. */
export function inContext(
  { offsets, partners, shares, fine, meanings }: Observed,
  probabilities: Probabilities,
  word: number,
  context: readonly number[],
): Map<number, number> {
  const own = { prior: 0, meaning: 0, joint: 0, value: 1 };
  const senses = new Map<number, typeof own>();
  const [start, end] = [elementAt(offsets, word), elementAt(offsets, word + 1)];
  for (let at = start; at < end; at++) {
    const number = elementAt(fine, at);
    const sense = senses.get(number) ?? { ...own, meaning: elementAt(meanings, at) };
    sense.prior += elementAt(shares, at);
    senses.set(number, sense);
  }
  const all = [...senses.values()];
  const sum = (value: (sense: typeof own) => number) =>
    all.reduce((total, sense) => total + value(sense), 0);
  const whole = sum(({ prior }) => prior);
  for (const other of new Set(context)) {
    if (other === word) continue;
    for (const sense of all) sense.joint = 0;
    for (let at = start; at < end; at++) {
      const partner = elementAt(partners, at);
      const evidence = partner === other ? 1 : probabilities.probability(partner, other);
      const sense = senses.get(elementAt(fine, at)) as typeof own;
      sense.joint += elementAt(shares, at) * evidence;
    }
    const joint = sum((sense) => sense.joint);
    if (joint === 0) continue;
    for (const sense of all) {
      const ratio = (sense.joint * whole) / (sense.prior * joint);
      sense.value *= (1 - IRRELEVANT) * ratio + IRRELEVANT;
    }
  }
  const total = sum(({ prior, value }) => prior * value);
  const found = new Map<number, number>();
  for (const { prior, meaning, value } of all) {
    found.set(meaning, (found.get(meaning) ?? 0) + (prior * value) / total);
  }
  return found;
}
