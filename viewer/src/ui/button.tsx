/** Buttons, which send no form, boxes to tick, and what fields share. */

import type { ComponentChildren, ComponentProps } from "preact";

/** A field whose text the browser neither completes nor corrects. */
export const AS_TYPED = {
  autocomplete: "off",
  autocapitalize: "off",
  spellcheck: false,
  dir: "auto",
} as const;

export function Button(props: ComponentProps<"button">) {
  return <button type="button" {...props} />;
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
