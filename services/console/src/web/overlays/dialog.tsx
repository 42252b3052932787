import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import { type KeyboardEvent, type ReactElement, type ReactNode, type RefObject, useEffect, useRef } from 'react';
import { useCoreI18n } from '../i18n/index.ts';
import { Icon, useFocusAfterwards } from '../ui/index.ts';

/** Gets the focus first, except by touch, which would bring up the keyboard. */
const FIELD = 'input:not([type=hidden], [readonly]), select, textarea';

/**
 * Renders a dialog for a short form or a result. With `canDismiss` false, only its content closes it, so that a stray
 * press loses nothing.
 */
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
  /** Interrupts the page with a question: Escape leaves a dialog below it open. */
  isInterruption?: boolean;
  children: ReactNode;
}): ReactElement => {
  const { messages } = useCoreI18n();
  const popup = useRef<HTMLDivElement>(null);
  useFocusAfterwards();
  const closeAlone = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    onClose();
  };
  useFocusOnChange(popup, title);
  return (
    <BaseDialog.Root open={isOpen} onOpenChange={(next) => !next && canDismiss && onClose()} disablePointerDismissal>
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className="backdrop" />
        <BaseDialog.Popup
          ref={popup}
          className="dialog"
          initialFocus={(how) => (how === 'touch' ? true : (popup.current?.querySelector<HTMLElement>(FIELD) ?? true))}
          {...(isInterruption ? { onKeyDown: closeAlone } : {})}
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

/** Takes the focus to the dialog, whose title is read out, if its content has changed and the button pressed is gone. */
const useFocusOnChange = (popup: RefObject<HTMLElement | null>, title: string): void => {
  const shown = useRef(title);
  useEffect(() => {
    if (shown.current === title) return;
    shown.current = title;
    if (popup.current?.contains(document.activeElement) === false) popup.current.focus();
  }, [popup, title]);
};
