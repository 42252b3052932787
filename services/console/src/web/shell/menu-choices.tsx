import { Menu } from '@base-ui/react/menu';
import type { ReactElement } from 'react';
import { Icon } from '../ui/index.ts';

/** Renders a group of choices in a menu, one of them selected. */
export const MenuChoices = <T extends string>({
  label,
  value,
  values,
  names,
  onChange,
  closesMenu = false,
}: {
  label: string;
  value: T;
  values: readonly T[];
  names: Readonly<Record<T, string>>;
  onChange: (value: T) => void;
  closesMenu?: boolean;
}): ReactElement => (
  <Menu.RadioGroup
    value={value}
    onValueChange={(next: unknown) => {
      const chosen = values.find((item) => item === next);
      if (chosen !== undefined) onChange(chosen);
    }}
  >
    <Menu.GroupLabel className="menu-label">{label}</Menu.GroupLabel>
    {values.map((item) => (
      <Menu.RadioItem key={item} value={item} className="menu-item" closeOnClick={closesMenu}>
        <span className="menu-check">
          <Menu.RadioItemIndicator>
            <Icon name="check" />
          </Menu.RadioItemIndicator>
        </span>
        {names[item]}
      </Menu.RadioItem>
    ))}
  </Menu.RadioGroup>
);
