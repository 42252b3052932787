import type { ReactElement } from 'react';
import { useCoreI18n } from '../i18n/index.ts';
import { Button } from './button.tsx';
import { describeError } from './describe-error.ts';
import { Notice } from './notice.tsx';

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
