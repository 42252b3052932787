import { Menu } from '@base-ui/react/menu';
import { type ReactElement, useRef } from 'react';
import { Icon } from '../ui/index.ts';

/** An action in a menu. */
export interface MenuAction {
  readonly label: string;
  readonly onSelect: () => void;
}

/** Renders a small button that opens a menu of actions for one row. */
export const ActionMenu = ({
  label,
  name,
  actions,
}: {
  /** Text on the button. */
  label: string;
  /** Accessible name, including that of the row. */
  name: string;
  actions: readonly MenuAction[];
}): ReactElement => {
  // Placed beside its button, so that both belong to the same landmark.
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
