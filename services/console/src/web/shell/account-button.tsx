import type { KeyboardEvent, ReactElement } from 'react';
import { useOnDemand } from '../ui/index.ts';
import { AccountLabel } from './account-label.tsx';

const loadMenu = async () => (await import('./account-menu.tsx')).AccountMenu;

/** The button of the account's menu. The menu's script is loaded when the pointer or the focus comes near. */
export const AccountButton = (): ReactElement => {
  const { component: AccountMenu, isLoading, request, warm } = useOnDemand(loadMenu);
  if (AccountMenu !== undefined) return <AccountMenu />;
  const openByArrow = (event: KeyboardEvent): void => {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    event.preventDefault();
    void request();
  };
  return (
    <button
      type="button"
      className="account-trigger"
      aria-haspopup="menu"
      aria-expanded={false}
      aria-busy={isLoading || undefined}
      data-popup-open={isLoading ? '' : undefined}
      onPointerEnter={warm}
      onFocus={warm}
      onKeyDown={openByArrow}
      onClick={() => void request()}
    >
      <AccountLabel />
    </button>
  );
};
