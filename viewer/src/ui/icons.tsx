/** The icons of the page: 20 x 20, drawn with lines in the colour of the text. */

const PATHS = {
  search: "M9 3.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 0 0 0-11M13.2 13.2L17 17",
  close: "M5 5l10 10M15 5L5 15",
  sun: "M10 6.5a3.5 3.5 0 1 0 0 7a3.5 3.5 0 0 0 0-7M10 1.8v2M10 16.2v2M1.8 10h2M16.2 10h2M4.2 4.2l1.4 1.4M14.4 14.4l1.4 1.4M4.2 15.8l1.4-1.4M14.4 5.6l1.4-1.4",
  moon: "M16.5 12.2A7 7 0 0 1 7.8 3.5a7 7 0 1 0 8.7 8.7z",
  menu: "M3.5 5.5h13M3.5 10h13M3.5 14.5h13",
  plus: "M10 4.5v11M4.5 10h11",
  minus: "M4.5 10h11",
  fit: "M4 7.5V4h3.5M12.5 4H16v3.5M16 12.5V16h-3.5M7.5 16H4v-3.5",
  lasso:
    "M6.5 13.8C3.9 13 2.5 11.2 2.5 9.2C2.5 5.9 5.9 3.5 10 3.5s7.5 2.4 7.5 5.7s-3.4 5.7-7.5 5.7c-.9 0-1.8-.1-2.6-.3M6.2 12.2a1.7 1.7 0 1 0 .1 3.4a1.7 1.7 0 0 0-.1-3.4M6.5 15.6c.3 1.2-.2 2-1.3 2.4",
  left: "M12 4.5L6.5 10l5.5 5.5",
  right: "M8 4.5l5.5 5.5L8 15.5",
  grid: "M3.5 3.5h5v5h-5zM11.5 3.5h5v5h-5zM3.5 11.5h5v5h-5zM11.5 11.5h5v5h-5z",
  save: "M10 3v9.5M6 9l4 4l4-4M3.5 16.5h13",
  help: "M7.3 7.5a2.7 2.7 0 1 1 4 2.3c-.9.5-1.3 1-1.3 2M10 14.6v.2",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
