/**
 * The colours of the meanings of a word: the dots and names of its words on a map, and its name on a card.
 *
 * Each has a contrast of 4.5 : 1 or more on paper and on cards, as letters need, and with the three kinds of
 * colour blindness they differ among themselves and from the accent of the word.
 */
import type { Theme } from "./coloring.ts";

export const MEANING_COLORS: Record<Theme, readonly string[]> = {
  light: ["#0A5AA5", "#8A6100", "#7A2E8C", "#1E7A5A", "#5B5B66"],
  dark: ["#6FB4F2", "#E8C05A", "#CF94E0", "#6FD0A8", "#B5B5C0"],
};
