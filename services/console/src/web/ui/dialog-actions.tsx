import type { ReactElement, ReactNode } from 'react';
import { useI18n } from '../i18n/index.ts';
import { Button } from './button.tsx';

/** The buttons below the form of a dialog: Cancel, then the given ones. */
export const DialogActions = ({ onClose, children }: { onClose: () => void; children: ReactNode }): ReactElement => {
  const { messages } = useI18n();
  return (
    <div className="dialog-actions">
      <Button onClick={onClose}>{messages.common.cancel}</Button>
      {children}
    </div>
  );
};
