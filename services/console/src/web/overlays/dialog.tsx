import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import { type Mutation, type MutationCache, useQueryClient } from '@tanstack/react-query';
import {
  createContext,
  type KeyboardEvent,
  type ReactElement,
  type ReactNode,
  use,
  useCallback,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { useCoreI18n } from '../i18n/index.ts';
import { useLeaveGuard } from '../leave-guard.tsx';
import { Button, Icon, useFocusAfterwards } from '../ui/index.ts';

const pendingIn = (cache: MutationCache): Mutation[] => cache.findAll({ status: 'pending' });

/**
 * Returns true while a change that began after the dialog opened is under way, and guards the page until it ends.
 * Every change and every form is a mutation, so a dialog need not say that it works. Earlier ones belong to what is
 * below the dialog, such as the change that waits for the person to authenticate again.
 */
export const useWork = (): boolean => {
  const cache = useQueryClient().getMutationCache();
  const [earlier] = useState(() => new Set(pendingIn(cache)));
  const isWorking = useSyncExternalStore(
    useCallback((listener: () => void) => cache.subscribe(listener), [cache]),
    () => pendingIn(cache).some((mutation) => !earlier.has(mutation)),
  );
  useLeaveGuard(isWorking);
  return isWorking;
};

/** Gets the focus first, except by touch, which would bring up the keyboard. */
const FIELD = 'input:not([type=hidden], [readonly]), select, textarea';

interface DialogState {
  readonly isWorking: boolean;
  readonly close: () => void;
}

const DialogContext = createContext<DialogState | undefined>(undefined);

/** Renders a dialog for a short form. While a change of it is under way, neither key, button nor browser closes it. */
export const Dialog = ({
  onClose,
  title,
  isInterruption = false,
  children,
}: {
  onClose: () => void;
  title: string;
  /** Interrupts the page with a question: Escape leaves a dialog below it open. */
  isInterruption?: boolean;
  children: ReactNode;
}): ReactElement => {
  const { messages } = useCoreI18n();
  const isWorking = useWork();
  const close = (): void => {
    if (!isWorking) onClose();
  };
  const closeAlone = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    close();
  };
  const closeButton = (
    <BaseDialog.Close className="icon-button" aria-label={messages.common.close} disabled={isWorking}>
      <Icon name="close" />
    </BaseDialog.Close>
  );
  return (
    <DialogContext value={useMemo(() => ({ isWorking, close: onClose }), [isWorking, onClose])}>
      <Frame title={title} onDismiss={close} onKeyDown={isInterruption ? closeAlone : undefined} action={closeButton}>
        {children}
      </Frame>
    </DialogContext>
  );
};

/** Renders the buttons of a dialog's form: Cancel, then the given ones. */
export const DialogActions = ({ children }: { children: ReactNode }): ReactElement => {
  const { messages } = useCoreI18n();
  const dialog = use(DialogContext);
  if (dialog === undefined) throw new Error('there is no Dialog above');
  return (
    <div className="dialog-actions">
      <Button onClick={dialog.close} disabled={dialog.isWorking}>
        {messages.common.cancel}
      </Button>
      {children}
    </div>
  );
};

/** Renders what cannot be read again. Only its own button closes it, so that a stray press loses nothing. */
export const OnceOnlyDialog = ({
  title,
  doneLabel,
  onClose,
  children,
}: {
  title: string;
  doneLabel: string;
  onClose: () => void;
  children: ReactNode;
}): ReactElement => {
  useLeaveGuard(true);
  return (
    <Frame title={title}>
      {children}
      <div className="dialog-actions">
        <Button variant="primary" onClick={onClose}>
          {doneLabel}
        </Button>
      </div>
    </Frame>
  );
};

const Frame = ({
  title,
  onDismiss,
  onKeyDown,
  action,
  children,
}: {
  title: string;
  onDismiss?: () => void;
  onKeyDown?: ((event: KeyboardEvent) => void) | undefined;
  /** Beside the title. */
  action?: ReactNode;
  children: ReactNode;
}): ReactElement => {
  const popup = useRef<HTMLDivElement>(null);
  useFocusAfterwards();
  return (
    <BaseDialog.Root open onOpenChange={(isOpen) => !isOpen && onDismiss?.()} disablePointerDismissal>
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className="backdrop" />
        <BaseDialog.Popup
          ref={popup}
          className="dialog"
          initialFocus={(how) => (how === 'touch' ? true : (popup.current?.querySelector<HTMLElement>(FIELD) ?? true))}
          {...(onKeyDown === undefined ? {} : { onKeyDown })}
        >
          <header className="dialog-header">
            <BaseDialog.Title className="dialog-title">{title}</BaseDialog.Title>
            {action}
          </header>
          {children}
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
};
