import { Menu } from '@base-ui/react/menu';
import { type ReactElement, useRef } from 'react';
import { Icon } from './icon.tsx';

/** An act that a menu offers. */
export interface MenuAction {
  readonly label: string;
  readonly onSelect: () => void;
}

/** A small button that opens a menu of acts on one row. */
export const ActionMenu = ({
  label,
  name,
  actions,
}: {
  /** Text on the button. */
  label: string;
  /** Accessible name, which also names the row. */
  name: string;
  actions: readonly MenuAction[];
}): ReactElement => {
  // Beside its button, so that both belong to the same landmark.
  const container = useRef<HTMLDivElement>(null);
  return (
    <Menu.Root>
      <Menu.Trigger className="button button-secondary button-small" aria-label={name}>
        <span>{label}</span>
        <Icon name="chevron" />
      </Menu.Trigger>
      <div ref={container} />
      <Menu.Portal container={container}>
        <Menu.Positioner className="menu-positioner" sideOffset={4} align="end">
          <Menu.Popup className="menu">
            {actions.map((action) => (
              <Menu.Item key={action.label} className="menu-item" onClick={action.onSelect}>
                {action.label}
              </Menu.Item>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
};
