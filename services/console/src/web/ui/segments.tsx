import type { ReactElement } from 'react';

/** Renders a few choices side by side, one of them selected. */
export const Segments = <T extends string>({
  label,
  value,
  onChange,
  options,
}: {
  /** Names the group for screen readers. */
  label: string;
  value: T;
  onChange: (value: T) => void;
  options: readonly { value: T; label: string }[];
}): ReactElement => (
  <fieldset className="segments">
    <legend className="visually-hidden">{label}</legend>
    {options.map((option) => (
      <button
        key={option.value}
        type="button"
        className="segment"
        aria-pressed={option.value === value}
        onClick={() => onChange(option.value)}
      >
        {option.label}
      </button>
    ))}
  </fieldset>
);
