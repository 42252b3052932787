import type { ReactElement } from 'react';
import type { Answer } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';

/** Status or error of one delivery attempt, with its duration. */
export const AttemptOutcome = ({
  attempt,
}: {
  attempt: Answer<'getWebhookEvent'>['attempt_log'][number];
}): ReactElement => {
  const { messages, formats } = useI18n();
  const { webhooks } = messages;
  const duration = formats.duration(attempt.duration_ms);
  const reason = attempt.error === null ? '' : (webhooks.reasons[attempt.error] ?? attempt.error);
  return (
    <span>
      {attempt.status_code === null
        ? webhooks.failedWith(reason, duration)
        : webhooks.answered(attempt.status_code, duration)}
      {isRedirect(attempt.status_code) && `, ${webhooks.redirected}`}
    </span>
  );
};

const isRedirect = (status: number | null): boolean => status !== null && status >= 300 && status < 400;
