import type { ReactElement, ReactNode } from 'react';
import { useCoreI18n } from '../i18n/index.ts';
import { Button } from './button.tsx';
import { describeError } from './describe-error.ts';
import { Icon } from './icon.tsx';

/** Renders a notice beside its subject. Screen readers announce `warn` and `bad` at once. */
export const Notice = ({
  tone = 'info',
  title,
  children,
}: {
  tone?: 'info' | 'good' | 'warn' | 'bad';
  title?: string | undefined;
  children?: ReactNode;
}): ReactElement => (
  <div className={`notice notice-${tone}`} role={tone === 'bad' || tone === 'warn' ? 'alert' : 'status'}>
    <Icon name={tone === 'good' ? 'check' : tone === 'info' ? 'info' : 'alert'} />
    <div>
      {title !== undefined && <p className="notice-title">{title}</p>}
      {children}
    </div>
  </div>
);

/** Shows what failed, what to do next, and the request id for support. */
export const ErrorNotice = ({ error, onRetry }: { error: unknown; onRetry?: () => void }): ReactElement => {
  const { messages, formats } = useCoreI18n();
  const { title, text, requestId, canRetry } = describeError(error, messages, formats);
  const isRetryOffered = canRetry && onRetry !== undefined;
  return (
    <Notice tone={canRetry ? 'bad' : 'warn'} title={title}>
      <p>{text}</p>
      {requestId !== undefined && (
        <p className="request-id">
          {messages.common.requestId}: <code>{requestId}</code>
        </p>
      )}
      {isRetryOffered && (
        <Button small icon="refresh" onClick={onRetry}>
          {messages.common.tryAgain}
        </Button>
      )}
    </Notice>
  );
};
