import { Toast } from '@base-ui/react/toast';
import type { ReactElement, ReactNode } from 'react';
import { useI18n } from '../i18n/index.ts';
import { Icon } from './icon.tsx';

const SHOWN_MS = 6_000;

/** Says briefly that something is done. */
export const useToast = (): ((text: string) => void) => {
  const { add } = Toast.useToastManager();
  return (text) => {
    add({ description: text, timeout: SHOWN_MS });
  };
};

/** The place where such notices appear. */
export const Toasts = ({ children }: { children: ReactNode }): ReactElement => (
  <Toast.Provider limit={3}>
    {children}
    <Toast.Portal>
      <ToastViewport />
    </Toast.Portal>
  </Toast.Provider>
);

const ToastViewport = (): ReactElement => {
  const { toasts } = Toast.useToastManager();
  const { messages } = useI18n();
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
