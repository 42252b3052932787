import type { ReactElement } from 'react';
import { useOutage } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Icon, useNow } from '../ui/index.ts';

/** Says that the page is not fresh while the service cannot be reached. */
export const OutageBar = (): ReactElement => {
  const { messages, formats } = useI18n();
  const { shell } = messages;
  const outage = useOutage();
  const now = useNow();
  // A status is read out only if it was there before its text.
  return (
    <div className="outage" role="status">
      {outage !== undefined && (
        <p>
          <Icon name="alert" />
          <span>
            <strong>{shell.outage}</strong>{' '}
            {outage.readAt === undefined
              ? shell.outageEmpty
              : shell.outageAge(formats.relative(new Date(outage.readAt), now))}
          </span>
        </p>
      )}
    </div>
  );
};
