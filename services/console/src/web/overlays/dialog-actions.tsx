import type { ReactElement, ReactNode } from 'react';
import { useCoreI18n } from '../i18n/index.ts';
import { Button } from '../ui/index.ts';

/** Renders the buttons of a dialog's form: Cancel, then the given ones. */
export const DialogActions = ({ onClose, children }: { onClose: () => void; children: ReactNode }): ReactElement => {
  const { messages } = useCoreI18n();
  return (
    <div className="dialog-actions">
      <Button onClick={onClose}>{messages.common.cancel}</Button>
      {children}
    </div>
  );
};
