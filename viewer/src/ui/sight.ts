/** Scrolling that stays within the page: in a notebook the browser's own would move the notebook too. */

/** Scrolls a box, where it scrolls, until a part of it is whole in sight, or its top where it is high. */
export function bringIntoSight(box: HTMLElement, part: HTMLElement): void {
  const { top, bottom, height } = part.getBoundingClientRect();
  const room = box.getBoundingClientRect();
  if (top >= room.top && bottom <= room.bottom) return;
  box.scrollTop += height > room.height ? top - room.top : bottom - room.bottom;
}
