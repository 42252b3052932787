import { AlertDialog } from '@base-ui/react/alert-dialog';
import { type ReactElement, type ReactNode, useRef } from 'react';
import { useCoreI18n } from '../i18n/index.ts';
import { Button, ErrorNotice, useFocusAfterwards } from '../ui/index.ts';
import { useWork } from './use-work.ts';

export interface ConfirmDialogProps {
  readonly onClose: () => void;
  readonly title: string;
  readonly text: string;
  readonly confirmLabel: string;
  readonly busyLabel: string;
  readonly isBusy: boolean;
  readonly onConfirm: () => void;
  readonly isDangerous?: boolean;
  /** False until a required text is typed. */
  readonly canConfirm?: boolean;
  readonly error?: unknown;
  readonly children?: ReactNode;
}

/** Asks for confirmation of an irreversible action. Cancel has the focus, and Escape cancels unless the action is under way. */
export const ConfirmDialog = (props: ConfirmDialogProps): ReactElement => {
  const { messages } = useCoreI18n();
  const cancel = useRef<HTMLButtonElement>(null);
  useFocusAfterwards();
  const isWorking = useWork();
  const { isBusy, canConfirm = true } = props;
  return (
    <AlertDialog.Root open onOpenChange={(isOpen) => !isOpen && !isWorking && props.onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="backdrop" />
        <AlertDialog.Popup className="dialog" initialFocus={cancel}>
          <AlertDialog.Title className="dialog-title">{props.title}</AlertDialog.Title>
          <AlertDialog.Description className="dialog-text">{props.text}</AlertDialog.Description>
          {props.children}
          {props.error != null && <ErrorNotice error={props.error} />}
          <div className="dialog-actions">
            <Button ref={cancel} onClick={props.onClose} disabled={isWorking}>
              {messages.common.cancel}
            </Button>
            <Button
              variant={props.isDangerous === true ? 'danger' : 'primary'}
              busyLabel={isBusy ? props.busyLabel : undefined}
              disabled={!canConfirm}
              onClick={props.onConfirm}
            >
              {props.confirmLabel}
            </Button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
};
