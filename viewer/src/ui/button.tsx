/** Buttons, which send no form, boxes to tick, and what fields share. */

import type { ComponentChildren, ComponentProps } from "preact";
import { useLayoutEffect } from "preact/hooks";
import * as texts from "../texts.ts";
import { Icon, type IconName } from "./icons.tsx";

/** A field whose text the browser neither completes nor corrects. */
export const AS_TYPED = {
  autocomplete: "off",
  autocapitalize: "off",
  spellcheck: false,
  dir: "auto",
} as const;

export function Button(props: ComponentProps<"button">) {
  return <button type="button" class="button" {...props} />;
}

interface ToolProps extends ComponentProps<"button"> {
  icon: IconName;
  name: string;
  /** The key that does the same. */
  keys?: string;
}

/** A button with an icon, without a frame where it closes. Its tooltip is its name and its key. */
export function Tool({ icon, name, keys, ...others }: ToolProps) {
  const title = keys ? texts.withKey(name, keys) : name;
  return (
    <Button
      class={icon === "close" ? "tool leave" : "tool"}
      title={title}
      aria-label={name}
      {...others}
    >
      <Icon name={icon} />
    </Button>
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
