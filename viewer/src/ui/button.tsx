/** Buttons, which send no form, boxes to tick, and what several parts of the page do alike. */

import type { ComponentChildren, ComponentProps } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { Icon, type IconName } from "./icons.tsx";

export function Button(props: ComponentProps<"button">) {
  return <button type="button" class="button" {...props} />;
}

interface ToolProps extends ComponentProps<"button"> {
  icon: IconName;
  name: string;
  keys?: string;
}

/** A button with an icon, without a frame where it closes. Its tooltip is its name and its key. */
export function Tool({ icon, name, keys, ...others }: ToolProps) {
  const title = keys ? `${name} (${keys})` : name;
  const kind = icon === "close" ? "tool leave" : "tool";
  return (
    <Button class={kind} title={title} aria-label={name} {...others}>
      <Icon name={icon} />
    </Button>
  );
}

interface CheckProps {
  name: string;
  isOn: boolean;
  onChange: (isOn: boolean) => void;
  children?: ComponentChildren;
}

/** A box to tick, its name, and what stands behind it. */
export function Check({ name, isOn, onChange, children }: CheckProps) {
  return (
    <label class="key">
      <input
        type="checkbox"
        checked={isOn}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span dir="auto" title={name}>
        {name}
      </span>
      {children}
    </label>
  );
}

/** Calls back when a click lies outside of an element, which closes what it shows over the page. */
export function useOutside(element: { current: HTMLElement | null }, close: () => void): void {
  useLayoutEffect(() => {
    const pressed = (event: Event) => {
      const { current } = element;
      if (current && !event.composedPath().includes(current)) close();
    };
    addEventListener("pointerdown", pressed);
    return () => removeEventListener("pointerdown", pressed);
  }, []);
}

/** Arrow keys go from one button of a list to the next. */
export function stepBetween(event: KeyboardEvent): void {
  const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (by === undefined) return;
  const buttons = [...(event.currentTarget as HTMLElement).querySelectorAll("button")];
  const at = buttons.indexOf(event.target as HTMLButtonElement);
  const next = buttons[at + by];
  if (at < 0 || next === undefined) return;
  event.preventDefault();
  next.focus();
}

/** Scrolls a box, and not the notebook around it, until a part of it is in sight. */
export function bringIntoSight(box: HTMLElement, part: HTMLElement): void {
  const { top, bottom, height } = part.getBoundingClientRect();
  const room = box.getBoundingClientRect();
  if (top >= room.top && bottom <= room.bottom) return;
  box.scrollTop += height > room.height ? top - room.top : bottom - room.bottom;
}
