import { Toast } from '@base-ui/react/toast';
import { type ReactElement, useEffect } from 'react';
import { useCoreI18n } from '../i18n/index.ts';
import { Icon } from '../ui/index.ts';

const SHOWN_MS = 6_000;

/** Shows waiting toasts, and calls `onTaken` once it has taken them over. */
export const ToastRegion = (props: { waiting: readonly string[]; onTaken: () => void }): ReactElement => (
  <Toast.Provider limit={3}>
    <Toast.Portal>
      <ToastViewport {...props} />
    </Toast.Portal>
  </Toast.Provider>
);

const ToastViewport = ({ waiting, onTaken }: { waiting: readonly string[]; onTaken: () => void }): ReactElement => {
  const { toasts, add } = Toast.useToastManager();
  const { messages } = useCoreI18n();
  // Added once the region is in the page: screen readers announce only changes within it.
  useEffect(() => {
    if (waiting.length === 0) return;
    for (const text of waiting) add({ description: text, timeout: SHOWN_MS });
    onTaken();
  }, [waiting, add, onTaken]);
  return (
    <Toast.Viewport className="toasts" aria-label={messages.common.notifications}>
      {toasts.map((toast) => (
        <Toast.Root key={toast.id} toast={toast} className="toast" aria-label={messages.common.notification}>
          <Toast.Content className="toast-content">
            <Icon name="check" />
            <Toast.Description />
            <Toast.Close className="icon-button" aria-label={messages.common.dismiss}>
              <Icon name="close" />
            </Toast.Close>
          </Toast.Content>
        </Toast.Root>
      ))}
    </Toast.Viewport>
  );
};
