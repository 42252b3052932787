import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import { type KeyboardEvent, type ReactElement, type ReactNode, useRef } from 'react';
import { useI18n } from '../i18n/index.ts';
import { Icon } from './icon.tsx';
import { useFocusAfterwards } from './use-focus-afterwards.ts';

/** A dialog for a short form or a result. `canDismiss` false: it closes only by what is in it, so that nothing is lost by a stray press. */
export const Dialog = ({
  isOpen,
  onClose,
  title,
  canDismiss = true,
  isInterruption = false,
  children,
}: {
  isOpen: boolean;
  onClose: () => void;
  title: string;
  canDismiss?: boolean;
  /** Interrupts the page with a question: starts in its first field, and Escape leaves a dialog below it open. */
  isInterruption?: boolean;
  children: ReactNode;
}): ReactElement => {
  const { messages } = useI18n();
  const popup = useRef<HTMLDivElement>(null);
  useFocusAfterwards();
  const closeAlone = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    onClose();
  };
  const firstField = (): HTMLElement | null | undefined => popup.current?.querySelector('input:not([type=hidden])');
  return (
    <BaseDialog.Root open={isOpen} onOpenChange={(next) => !next && canDismiss && onClose()} disablePointerDismissal>
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className="backdrop" />
        <BaseDialog.Popup
          ref={popup}
          className="dialog"
          {...(isInterruption ? { onKeyDown: closeAlone, initialFocus: firstField } : {})}
        >
          <header className="dialog-header">
            <BaseDialog.Title className="dialog-title">{title}</BaseDialog.Title>
            {canDismiss && (
              <BaseDialog.Close className="icon-button" aria-label={messages.common.close}>
                <Icon name="close" />
              </BaseDialog.Close>
            )}
          </header>
          {children}
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
};
