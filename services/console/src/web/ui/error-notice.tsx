import type { ReactElement } from 'react';
import { useI18n } from '../i18n/index.ts';
import { Button } from './button.tsx';
import { describeError } from './describe-error.ts';
import { Notice } from './notice.tsx';

/** Tells what failed, what to do next, and the id under which support finds it. */
export const ErrorNotice = ({ error, onRetry }: { error: unknown; onRetry?: () => void }): ReactElement => {
  const { messages, formats } = useI18n();
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
